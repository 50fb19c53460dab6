//! XDR in bytes that are already there: no length a stranger names is allocated.

use crate::error::NfsError;

/// What is left of a message.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Cursor<'a> {
    /// Over a whole message; `what` names it in errors.
    pub fn new(rest: &'a [u8], what: &'static str) -> Self {
        Self { rest, what }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// So many bytes. Errors: Malformed when there are fewer.
    pub fn take(&mut self, bytes: usize) -> Result<&'a [u8], NfsError> {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(NfsError::Malformed { what: self.what });
        };
        self.rest = rest;
        Ok(taken)
    }

    /// A number of 32 bits.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, NfsError> {
        let Some((bytes, rest)) = self.rest.split_first_chunk::<4>() else {
            return Err(NfsError::Malformed { what: self.what });
        };
        self.rest = rest;
        Ok(u32::from_be_bytes(*bytes))
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> Result<u64, NfsError> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    /// Bytes with their length before them and zeros up to a multiple of four behind; at most `most`.
    pub fn opaque(&mut self, most: usize) -> Result<&'a [u8], NfsError> {
        let length = self.u32()? as usize;
        if length > most {
            return Err(NfsError::Malformed { what: self.what });
        }
        let data = self.take(length)?;
        self.take(padding(length))?;
        Ok(data)
    }

    /// Pass over attributes that may be there (post_op_attr).
    pub fn skip_attributes(&mut self) -> Result<(), NfsError> {
        const FATTR3: usize = 84;
        if self.u32()? != 0 {
            self.take(FATTR3)?;
        }
        Ok(())
    }

    /// Pass over attributes before and after (wcc_data).
    pub fn skip_wcc(&mut self) -> Result<(), NfsError> {
        const WCC_ATTR: usize = 24;
        if self.u32()? != 0 {
            self.take(WCC_ATTR)?;
        }
        self.skip_attributes()
    }
}

/// Zeros behind so many bytes.
pub fn padding(length: usize) -> usize {
    length.wrapping_neg() & 3
}

/// Append a number.
#[inline]
pub fn put_u32(to: &mut Vec<u8>, value: u32) {
    to.extend_from_slice(&value.to_be_bytes());
}

/// Append a number of 64 bits.
pub fn put_u64(to: &mut Vec<u8>, value: u64) {
    to.extend_from_slice(&value.to_be_bytes());
}

/// Append bytes with length and padding.
pub fn put_opaque(to: &mut Vec<u8>, data: &[u8]) {
    put_u32(to, data.len() as u32);
    to.extend_from_slice(data);
    to.extend_from_slice(&[0; 3][..padding(data.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read_again() {
        for length in 0..20 {
            let data: Vec<u8> = (0..length).collect();
            let mut bytes = Vec::new();
            put_opaque(&mut bytes, &data);
            put_u64(&mut bytes, 1 << 40 | 7);
            assert_eq!(bytes.len() % 4, 0);
            let mut cursor = Cursor::new(&bytes, "test");
            assert_eq!(cursor.opaque(20).unwrap(), data);
            assert_eq!(cursor.u64().unwrap(), 1 << 40 | 7);
            assert!(cursor.rest().is_empty() && cursor.u32().is_err());
        }
    }

    #[test]
    fn a_length_beyond_the_message_is_an_error() {
        for length in [5_u32, 1 << 20, u32::MAX] {
            let mut bytes = length.to_be_bytes().to_vec();
            bytes.extend([0; 4]);
            assert!(Cursor::new(&bytes, "test").opaque(usize::MAX).is_err());
            assert!(Cursor::new(&bytes, "test").opaque(4).is_err());
        }
    }
}
