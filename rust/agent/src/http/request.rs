//! The head of a request, as far as it matters here.

use crate::exposition::protobuf;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Whether it only reads: GET or HEAD.
    pub reads: bool,
    /// Whether the body is to be left out.
    pub head: bool,
    /// What is asked for, the query included.
    pub path: String,
    /// Whether the protobuf format of metrics may be the answer.
    pub protobuf: bool,
}

/// What the bytes so far amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// The beginning of a request.
    Partial,
    /// Not a request, whatever may follow.
    Bad,
    /// More headers than anybody needs.
    TooLong,
    /// A whole head; what follows it does not matter.
    Whole(Request),
}

/// Read the head of a request.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => Parsed::Partial,
        Err(httparse::Error::TooManyHeaders) => Parsed::TooLong,
        Err(_) => Parsed::Bad,
        Ok(httparse::Status::Complete(_)) => {
            let method = request.method.unwrap_or("");
            Parsed::Whole(Request {
                reads: matches!(method, "GET" | "HEAD"),
                head: method == "HEAD",
                path: request.path.unwrap_or("/").to_owned(),
                protobuf: request.headers.iter().any(|header| {
                    header.name.eq_ignore_ascii_case("accept")
                        && std::str::from_utf8(header.value).is_ok_and(protobuf::is_accepted)
                }),
            })
        }
    }
}
