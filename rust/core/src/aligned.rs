//! Memory aligned for O_DIRECT.

use std::ptr::NonNull;
use std::sync::Arc;

/// Memory for O_DIRECT: page-aligned, and in huge pages when large, because the kernel must pin every page of
/// every transfer.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    length: usize,
    _memory: Arc<Vec<u8>>,
}

// SAFETY: a buffer is the only one to reach its part of the memory.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    const PAGE: usize = 4096;
    const HUGE_PAGE: usize = 2 << 20;

    /// `length` zero bytes.
    pub fn new(length: usize) -> Self {
        let [buffer] = Self::several(length);
        buffer
    }

    /// `N` times `length` zero bytes, side by side, so that two of 1 MiB share one huge page.
    pub fn several<const N: usize>(length: usize) -> [Self; N] {
        let mut parts = Self::many(length, N).into_iter();
        #[allow(clippy::expect_used)]
        std::array::from_fn(|_| parts.next().expect("as many as were asked for"))
    }

    /// `count` times `length` zero bytes, for a count known only at run time.
    pub fn many(length: usize, count: usize) -> Vec<Self> {
        let part = length.next_multiple_of(Self::PAGE);
        // One buffer of a worker on trial would leave half of a huge page to nobody.
        let huge = count * part >= Self::HUGE_PAGE;
        let align = if huge { Self::HUGE_PAGE } else { Self::PAGE };
        let whole = (count * part).next_multiple_of(align);
        let mut memory = vec![0_u8; whole + align];
        let first = memory.as_ptr().align_offset(align);
        let start = memory[first..].as_mut_ptr();
        if huge {
            // SAFETY: the range lies within `memory`; the advice changes no content. Where it is not taken the
            // buffer works all the same.
            unsafe { libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE) };
        }
        let memory = Arc::new(memory);
        (0..count)
            .map(|i| Self {
                // SAFETY: part `i` lies within the `whole` bytes behind `start`, which is not null.
                start: unsafe { NonNull::new_unchecked(start.add(i * part)) },
                length,
                _memory: Arc::clone(&memory),
            })
            .collect()
    }
    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }
    /// True for a length of zero.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
    /// Bytes to write from.
    pub fn slice(&self) -> &[u8] {
        // SAFETY: this part of the memory is initialised, lives as long as `self` and belongs to it alone.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
    /// Bytes to read into.
    pub fn slice_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_buffers_are_aligned() {
        for length in [1, 512, 4096, 1 << 20] {
            let mut buffer = AlignedBuffer::new(length);
            assert_eq!(buffer.slice_mut().as_ptr() as usize % AlignedBuffer::PAGE, 0);
            assert_eq!(buffer.slice().len(), length);
        }
    }

    #[test]
    fn parts_do_not_overlap() {
        let [mut first, mut second] = AlignedBuffer::several(1 << 20);
        first.slice_mut().fill(1);
        second.slice_mut().fill(2);
        assert!(first.slice().iter().all(|&byte| byte == 1));
        assert_eq!(second.slice().as_ptr() as usize - first.slice().as_ptr() as usize, 1 << 20);
    }
}
