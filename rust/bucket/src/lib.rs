//! Objects of an S3 bucket, from a server that nobody vouches for.
//!
//! Each request has a limit of bytes and of seconds, from the look-up of the server's name to the last byte of its answer.
//! A redirect is an answer that says no: what a request is signed with goes to the server that was named and to no other.

mod failure;
mod listing;
mod words;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use rusty_s3::{Credentials, S3Action, UrlStyle};
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, SendBody};

pub use failure::Failure;
pub use listing::{Listed, Page};

/// How long a signature is good for; the server looks when a request begins.
const SIGNED_FOR: Duration = Duration::from_secs(900);
/// A page of a listing has a thousand keys of 1,024 bytes at most, each byte written with three letters.
const PAGE_BYTES: u64 = 8 << 20;
/// What is read of an answer that says no.
const WORDS_BYTES: u64 = 16 << 10;

/// A bucket of a server, and what requests are signed with.
pub struct Bucket {
    agent: Agent,
    bucket: rusty_s3::Bucket,
    credentials: Credentials,
}

type Answer = Response<Body>;

impl Bucket {
    /// A bucket at `endpoint` (`http://HOST:PORT`, `https://HOST`). Errors: no address, no bucket's name.
    pub fn new(
        endpoint: &str,
        region: &str,
        name: &str,
        credentials: (&str, &str, Option<&str>),
    ) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Wrong(format!("{endpoint} is no address: {what}"));
        let url = endpoint.parse().map_err(|error| wrong(format!("{error}")))?;
        let bucket = rusty_s3::Bucket::new(url, UrlStyle::Path, name.to_owned(), region.to_owned())
            .map_err(|error| wrong(error.to_string()))?;
        let credentials = match credentials {
            (key, secret, Some(token)) => Credentials::new_with_token(key, secret, token),
            (key, secret, None) => Credentials::new(key, secret),
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .user_agent("iosonde")
            .build();
        Ok(Self { agent: Agent::new_with_config(config), bucket, credentials })
    }

    /// A page of the keys that begin with `prefix`; `token`: of the page before.
    pub fn page(&self, prefix: &str, token: Option<&str>, seconds: u64) -> Result<Page, Failure> {
        let mut action = self.bucket.list_objects_v2(Some(&self.credentials));
        action.with_prefix(prefix);
        if let Some(token) = token {
            action.with_continuation_token(token);
        }
        let answer = self.answer(action.sign(SIGNED_FOR).as_str(), seconds)?;
        let mut bytes = Vec::new();
        copy(answer, &mut bytes, PAGE_BYTES, seconds)?;
        listing::parse(&String::from_utf8_lossy(&bytes))
    }

    /// The bytes of an object, at most `most`.
    pub fn get(&self, key: &str, most: u64, seconds: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        copy(self.object(key, seconds)?, &mut bytes, most, seconds)?;
        Ok(bytes)
    }

    /// An object of `size` bytes into a file that is there.
    pub fn fetch(&self, key: &str, path: &Path, size: u64, seconds: u64) -> Result<(), Failure> {
        let answer = self.object(key, seconds)?;
        let other = |found: u64| Failure::Size(format!("it has {found} bytes, {size} were listed"));
        if let Some(found) = answer.body().content_length().filter(|&found| found != size) {
            return Err(other(found));
        }
        let mut file = File::options().write(true).truncate(true).open(path)?;
        match copy(answer, &mut file, size, seconds)? {
            found if found == size => Ok(()),
            found => Err(other(found)),
        }
    }

    /// Bytes as an object, whatever was there.
    pub fn put(&self, key: &str, content: &[u8], seconds: u64) -> Result<(), Failure> {
        self.upload(key, seconds, |request| request.send(content))
    }

    /// A file as an object.
    pub fn send(&self, key: &str, path: &Path, seconds: u64) -> Result<(), Failure> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let body = file.take(size);
        self.upload(key, seconds, |request| {
            request.header("content-length", size.to_string()).send(SendBody::from_owned_reader(body))
        })
    }

    fn upload(
        &self,
        key: &str,
        seconds: u64,
        send: impl FnOnce(ureq::RequestBuilder<ureq::typestate::WithBody>) -> Result<Answer, ureq::Error>,
    ) -> Result<(), Failure> {
        let url = self.bucket.put_object(Some(&self.credentials), key).sign(SIGNED_FOR);
        let request = self.agent.put(url.as_str()).config().timeout_global(within(seconds)).build();
        judged(send(request), seconds).map(drop)
    }

    fn object(&self, key: &str, seconds: u64) -> Result<Answer, Failure> {
        let url = self.bucket.get_object(Some(&self.credentials), key).sign(SIGNED_FOR);
        self.answer(url.as_str(), seconds)
    }

    fn answer(&self, url: &str, seconds: u64) -> Result<Answer, Failure> {
        judged(self.agent.get(url).config().timeout_global(within(seconds)).build().call(), seconds)
    }
}

fn within(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds.max(1)))
}

fn judged(sent: Result<Answer, ureq::Error>, seconds: u64) -> Result<Answer, Failure> {
    let mut answer = sent.map_err(|error| broken(&error, seconds))?;
    let status = answer.status().as_u16();
    if answer.status().is_success() {
        return Ok(answer);
    }
    let to = answer.headers().get("location").map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
    let mut text = Vec::new();
    let _ = answer.body_mut().as_reader().take(WORDS_BYTES).read_to_end(&mut text);
    let words = words::of(status, &String::from_utf8_lossy(&text), to.as_deref());
    Err(Failure::Refused { status, words })
}

/// The body of an answer, at most `most` bytes of it; how many there were.
fn copy(answer: Answer, into: &mut dyn Write, most: u64, seconds: u64) -> Result<u64, Failure> {
    let mut body = answer.into_body().into_with_config().limit(u64::MAX).reader();
    let mut piece = vec![0; 1 << 16];
    let mut done = 0;
    loop {
        let count = match body.read(&mut piece) {
            Ok(0) => return Ok(done),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(&ureq::Error::from(error), seconds)),
        };
        done += count as u64;
        if done > most {
            return Err(Failure::Size(format!("it has more than {most} bytes")));
        }
        into.write_all(&piece[..count])?;
    }
}

fn broken(error: &ureq::Error, seconds: u64) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Late(seconds),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Failure::Late(seconds),
        ureq::Error::Io(error) => Failure::Broken(words::plain(error)),
        error => Failure::Broken(error.to_string()),
    }
}
