//! Signed requests over one kept connection, and what their answers mean.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rusty_s3::actions::ListObjectsV2;
use rusty_s3::{Bucket, Credentials, S3Action};
use ureq::http::{Response, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body};

use crate::backend::words::{Problem, errno_of};

/// How long a signature is good for: longer than any request may take.
const SIGNED_FOR: Duration = Duration::from_secs(900);
/// What is read of an answer that says no.
const WORDS_BYTES: u64 = 16 << 10;

/// Looks the server up once, and again after a failure: a look-up beside every request would be measured too.
#[derive(Debug, Clone, Default)]
struct Remembered {
    found: Arc<Mutex<Option<ResolvedSocketAddrs>>>,
}

impl Remembered {
    fn forget(&self) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Resolver for Remembered {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_none() {
            *found = Some(DefaultResolver::default().resolve(uri, config, timeout)?);
        }
        found.clone().ok_or(ureq::Error::HostNotFound)
    }
}

/// One rank's connection to a bucket, and what requests are signed with.
#[derive(Debug)]
pub(super) struct Wire {
    agent: Agent,
    remembered: Remembered,
    bucket: Bucket,
    credentials: Option<Credentials>,
    pub(super) problem: Problem,
}

/// An answer of a server that said yes.
pub(super) type Answer = Response<Body>;

impl Wire {
    pub(super) fn new(bucket: Bucket, credentials: Option<Credentials>, timeout: Duration) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(1)
            .max_idle_connections_per_host(1)
            .proxy(None)
            .timeout_global(Some(timeout))
            .tls_config(tls)
            .user_agent("iosonde")
            .build();
        let remembered = Remembered::default();
        let agent = Agent::with_parts(config, DefaultConnector::new(), remembered.clone());
        Self { agent, remembered, bucket, credentials, problem: Problem::default() }
    }

    pub(super) fn get(&self, key: &str) -> Result<Answer, Errno> {
        let url = self.bucket.get_object(self.credentials.as_ref(), key).sign(SIGNED_FOR);
        self.judge(self.agent.get(url.as_str()).call())
    }
    pub(super) fn head(&self, key: &str) -> Result<Answer, Errno> {
        let url = self.bucket.head_object(self.credentials.as_ref(), key).sign(SIGNED_FOR);
        self.judge(self.agent.head(url.as_str()).call())
    }
    pub(super) fn delete(&self, key: &str) -> Result<(), Errno> {
        let url = self.bucket.delete_object(self.credentials.as_ref(), key).sign(SIGNED_FOR);
        finish(self.judge(self.agent.delete(url.as_str()).call())?);
        Ok(())
    }
    /// `only_new`: fail with EEXIST if the object exists, where the server honours that.
    pub(super) fn put(&self, key: &str, content: &[u8], only_new: bool) -> Result<(), Errno> {
        let url = self.bucket.put_object(self.credentials.as_ref(), key).sign(SIGNED_FOR);
        let mut request = self.agent.put(url.as_str());
        if only_new {
            request = request.header("if-none-match", "*");
        }
        finish(self.judge(request.send(content))?);
        Ok(())
    }

    /// One page of the keys that begin with `prefix`, at most `most`, and what the next page is asked for with.
    pub(super) fn page(
        &self,
        prefix: &str,
        most: usize,
        token: Option<String>,
    ) -> Result<(Vec<String>, Option<String>), Errno> {
        let mut action = self.bucket.list_objects_v2(self.credentials.as_ref());
        action.with_prefix(prefix);
        action.with_max_keys(most);
        if let Some(token) = token {
            action.with_continuation_token(token);
        }
        let answer = self.judge(self.agent.get(action.sign(SIGNED_FOR).as_str()).call())?;
        let text = self.text(answer)?;
        let page = ListObjectsV2::parse_response(&text)
            .map_err(|error| self.problem.keep(&format!("no listing: {error}"), Errno::BADMSG))?;
        Ok((page.contents.into_iter().map(|object| object.key).collect(), page.next_continuation_token))
    }

    /// All of an answer's body.
    pub(super) fn text(&self, answer: Answer) -> Result<String, Errno> {
        answer.into_body().read_to_string().map_err(|error| self.broken(&error))
    }

    fn judge(&self, sent: Result<Answer, ureq::Error>) -> Result<Answer, Errno> {
        match sent {
            Ok(mut answer) if !answer.status().is_success() => {
                let status = answer.status().as_u16();
                let mut text = Vec::new();
                let _ = answer.body_mut().as_reader().take(WORDS_BYTES).read_to_end(&mut text);
                let message = words(status, &String::from_utf8_lossy(&text));
                Err(self.problem.keep(&message, errno_of_status(status)))
            }
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// No answer came.
    fn broken(&self, error: &ureq::Error) -> Errno {
        self.remembered.forget();
        let errno = match error {
            ureq::Error::Io(error) => errno_of(error),
            ureq::Error::Timeout(_) => Errno::TIMEDOUT,
            ureq::Error::HostNotFound => Errno::HOSTUNREACH,
            ureq::Error::ConnectionFailed => Errno::CONNREFUSED,
            _ => Errno::IO,
        };
        self.problem.keep(&error.to_string(), errno)
    }

    /// Fill `buffer` from an answer's body; returns how many bytes there were.
    pub(super) fn fill(&self, answer: Answer, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut reader = answer.into_body().into_reader();
        let mut done = 0;
        // A read that finds the end gives the connection back: even a full buffer is followed by one.
        loop {
            let mut beyond = [0];
            let rest = if done < buffer.len() { &mut buffer[done..] } else { &mut beyond[..] };
            match reader.read(rest) {
                Ok(0) => return Ok(done),
                Ok(_) if done == buffer.len() => return Ok(done),
                Ok(n) => done += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.problem.keep(&error.to_string(), errno_of(&error))),
            }
        }
    }
}

/// Read what is left, so that the connection can be used again.
fn finish(answer: Answer) {
    let _ = std::io::copy(&mut answer.into_body().into_reader().take(WORDS_BYTES), &mut std::io::sink());
}

fn errno_of_status(status: u16) -> Errno {
    match status {
        401 | 403 => Errno::ACCESS,
        404 => Errno::NOENT,
        409 | 412 => Errno::EXIST,
        408 | 504 => Errno::TIMEDOUT,
        413 => Errno::FBIG,
        429 | 503 => Errno::AGAIN,
        501 => Errno::NOSYS,
        507 => Errno::NOSPC,
        _ => Errno::IO,
    }
}

/// What an answer that says no says: its code and message, else its status.
fn words(status: u16, body: &str) -> String {
    match (element(body, "Code"), element(body, "Message")) {
        (Some(code), Some(message)) => format!("{code}: {message} (HTTP {status})"),
        (Some(code), None) => format!("{code} (HTTP {status})"),
        _ => format!("HTTP {status}"),
    }
}

fn element(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let plain =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&")]
            .iter()
            .fold(text.to_owned(), |text, (written, meant)| text.replace(written, meant));
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_is_told_in_the_servers_words() {
        let body = "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>not &lt;here&gt;</Message>\
                    <SignatureProvided>secret</SignatureProvided></Error>";
        assert_eq!(words(404, body), "NoSuchKey: not <here> (HTTP 404)");
        for nothing in ["", "<Code>", "<html>go away</html>", "<Message>only</Message>"] {
            assert_eq!(words(502, nothing), "HTTP 502", "{nothing}");
        }
    }

    #[test]
    fn every_status_has_an_errno() {
        for (status, errno) in [
            (403, Errno::ACCESS),
            (404, Errno::NOENT),
            (409, Errno::EXIST),
            (412, Errno::EXIST),
            (429, Errno::AGAIN),
            (503, Errno::AGAIN),
            (507, Errno::NOSPC),
            (301, Errno::IO),
            (500, Errno::IO),
        ] {
            assert_eq!(errno_of_status(status), errno, "{status}");
        }
    }
}
