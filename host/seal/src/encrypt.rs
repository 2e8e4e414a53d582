//! Files for one reader: encrypted to the key of an evaluating host, in the format of `age`
//! (<https://age-encryption.org/v1>), so that an organiser may use `age` itself.
//!
//! A header wraps the file's key for each recipient and is bound to it by a MAC; the payload follows in
//! chunks, each of them encrypted and authenticated. Whoever reads the ciphertext learns its length and
//! how many may read it, not who; whoever alters it is noticed.

use ct_codecs::{Base64NoPadding, Decoder as _, Encoder as _};
use orion::hazardous::aead::chacha20poly1305::{ChaCha20Poly1305, Nonce, SecretKey};
use orion::hazardous::kdf::hkdf::{Hkdf, SHA256};
use orion::hazardous::mac::hmac::sha256::{HmacSha256, SecretKey as MacKey, Tag};

use crate::age_key::{HostKey, RecipientKey, secret_bytes};
use crate::error::SealError;

/// The first line of a file.
const VERSION: &str = "age-encryption.org/v1";
/// What begins a recipient's part of the header.
const STANZA: &str = "-> ";
/// What begins the header's last line.
const END: &str = "---";
/// The kind of recipient that is written and read here.
const X25519: &str = "X25519";
/// What separates the keys of a recipient's part from all others.
const WRAP: &[u8] = b"age-encryption.org/v1/X25519";
/// A line of a part's body that is as long as this is not its last.
const COLUMNS: usize = 64;
/// Bytes of a chunk of the payload, before its tag.
const CHUNK: usize = 64 << 10;
/// Bytes of a Poly1305 tag.
const TAG: usize = 16;
/// Bytes of the key of a file, and of the salt of its payload.
const FILE_KEY: usize = 16;

type Key = [u8; 32];

/// Encrypts to one recipient. Twice the same bytes are two different files.
///
/// # Errors
/// The system gives no secret bytes, or the key is a weak one.
pub fn encrypt(bytes: &[u8], to: &RecipientKey) -> Result<Vec<u8>, SealError> {
    let (file_key, salt) = (secret_bytes::<FILE_KEY>()?, secret_bytes::<FILE_KEY>()?);
    let once = HostKey::generate()?;
    let share = once.recipient()?.bytes();
    let wrap = wrap_key(&once, to.bytes(), share, to.bytes()).ok_or(SealError::RecipientKey)?;
    let wrapped = seal(&wrap, [0; 12], &file_key)?;
    let mut file =
        format!("{VERSION}\n{STANZA}{X25519} {}\n{}\n{END}", encode(&share)?, encode(&wrapped)?).into_bytes();
    let mac = mac(&file_key, &file)?;
    file.extend_from_slice(format!(" {}\n", encode(mac.unprotected_as_ref())?).as_bytes());
    file.extend_from_slice(&salt);
    let key = derive(&file_key, &salt, b"payload")?;
    // An empty file has one chunk too.
    let count = bytes.len().div_ceil(CHUNK).max(1);
    for index in 0..count {
        let chunk = &bytes[index * CHUNK..bytes.len().min((index + 1) * CHUNK)];
        file.extend_from_slice(&seal(&key, nonce(index, index + 1 == count), chunk)?);
    }
    Ok(file)
}

/// What was encrypted.
///
/// # Errors
/// It is no such file, it is for other hosts, or it was altered.
pub fn decrypt(file: &[u8], key: &HostKey) -> Result<Vec<u8>, SealError> {
    let header = Header::read(file)?;
    let own = key.recipient()?;
    let opened = header.recipients.iter().find_map(|recipient| recipient.open(key, &own));
    let file_key = opened.ok_or_else(|| SealError::Recipient { own: own.to_string() })?;
    HmacSha256::verify(&header.mac, &mac_key(&file_key)?, header.bound).map_err(|_| SealError::Altered)?;
    let (salt, payload) = header.payload.split_at_checked(FILE_KEY).ok_or(SealError::Altered)?;
    let key = derive(&file_key, salt, b"payload")?;
    let count = payload.len().div_ceil(CHUNK + TAG);
    let mut bytes = Vec::with_capacity(payload.len());
    for (index, chunk) in payload.chunks(CHUNK + TAG).enumerate() {
        // An empty chunk stands for an empty file, and ends none.
        if chunk.len() == TAG && index > 0 {
            return Err(SealError::Altered);
        }
        bytes.extend_from_slice(&open(&key, nonce(index, index + 1 == count), chunk).ok_or(SealError::Altered)?);
    }
    if count == 0 { Err(SealError::Altered) } else { Ok(bytes) }
}

/// What a header says.
struct Header<'a> {
    recipients: Vec<Recipient>,
    /// What its MAC binds.
    bound: &'a [u8],
    mac: Tag,
    /// What comes behind it.
    payload: &'a [u8],
}

/// The file's key, wrapped for one recipient.
struct Recipient {
    share: Key,
    wrapped: Vec<u8>,
}

impl<'a> Header<'a> {
    fn read(file: &'a [u8]) -> Result<Header<'a>, SealError> {
        let wrong = |why: &str| SealError::Encrypted(why.to_owned());
        let mut lines = Lines { rest: file };
        if lines.next() != Some(VERSION) {
            let armoured = file.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----");
            return Err(wrong(if armoured { "it is armoured; encrypt it without --armor" } else { "no line of age" }));
        }
        let mut recipients = Vec::new();
        let mut line = lines.next();
        while let Some(words) = line.and_then(|line| line.strip_prefix(STANZA)) {
            let mut body = String::new();
            loop {
                let part = lines.next().ok_or_else(|| wrong("a recipient's part ends too early"))?;
                body.push_str(part);
                if part.len() != COLUMNS {
                    break;
                }
            }
            // Parts of other kinds are for others.
            if let [X25519, share] = words.split(' ').collect::<Vec<_>>()[..] {
                let read = decode(share).and_then(|share| share.try_into().ok()).zip(decode(&body));
                let (share, wrapped) = read.ok_or_else(|| wrong("a recipient's part is no base64 of 32 bytes"))?;
                recipients.push(Recipient { share, wrapped });
            }
            line = lines.next();
        }
        let mac = line.and_then(|line| line.strip_prefix(END)?.strip_prefix(' ')).and_then(decode);
        let mac =
            mac.and_then(|mac| Tag::try_from(mac.as_slice()).ok()).ok_or_else(|| wrong("no end of its header"))?;
        // The MAC's own line is bound up to its dashes.
        let header = &file[..file.len() - lines.rest.len()];
        let dashes = header.len() - 1 - header.iter().rev().skip(1).position(|byte| *byte == b'\n').unwrap_or(0);
        Ok(Header { recipients, bound: &header[..dashes + END.len()], mac, payload: lines.rest })
    }
}

impl Recipient {
    /// The file's key, if it was wrapped for this host.
    fn open(&self, key: &HostKey, own: &RecipientKey) -> Option<[u8; FILE_KEY]> {
        let wrap = wrap_key(key, self.share, self.share, own.bytes())?;
        open(&wrap, [0; 12], &self.wrapped)?.try_into().ok()
    }
}

/// The lines of a header, as far as they are text.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let end = self.rest.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        std::str::from_utf8(line).ok().filter(|line| line.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '))
    }
}

/// The key that wraps a file's key: of a secret and the other side's public key, for this share and recipient.
fn wrap_key(secret: &HostKey, public: Key, share: Key, recipient: Key) -> Option<Key> {
    let shared = secret.agree(public)?;
    derive(shared.unprotected_as_ref(), &[share, recipient].concat(), WRAP).ok()
}

fn derive(secret: &[u8], salt: &[u8], what: &[u8]) -> Result<Key, SealError> {
    let mut key = [0; 32];
    Hkdf::<SHA256>::derive_key(salt, secret, Some(what), &mut key).map_err(|_| SealError::Altered)?;
    Ok(key)
}

fn mac_key(file_key: &[u8]) -> Result<MacKey, SealError> {
    MacKey::try_from(derive(file_key, &[], b"header")?.as_slice()).map_err(|_| SealError::Altered)
}

fn mac(file_key: &[u8], header: &[u8]) -> Result<Tag, SealError> {
    HmacSha256::hmac(&mac_key(file_key)?, header).map_err(|_| SealError::Altered)
}

/// Chunks are counted in eleven bytes, and the last one says so.
fn nonce(index: usize, last: bool) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&(index as u64).to_be_bytes());
    nonce[11] = u8::from(last);
    nonce
}

fn seal(key: &Key, nonce: [u8; 12], bytes: &[u8]) -> Result<Vec<u8>, SealError> {
    let mut sealed = vec![0; bytes.len() + TAG];
    ChaCha20Poly1305::seal(&SecretKey::from(*key), &Nonce::from(nonce), bytes, None, &mut sealed)
        .map_err(|_| SealError::RecipientKey)?;
    Ok(sealed)
}

fn open(key: &Key, nonce: [u8; 12], sealed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = vec![0; sealed.len().checked_sub(TAG)?];
    ChaCha20Poly1305::open(&SecretKey::from(*key), &Nonce::from(nonce), sealed, None, &mut bytes).ok()?;
    Some(bytes)
}

fn encode(bytes: &[u8]) -> Result<String, SealError> {
    Base64NoPadding::encode_to_string(bytes).map_err(|why| SealError::Encrypted(why.to_string()))
}

/// Of what has one spelling only: another one of the same bytes is refused.
fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = Base64NoPadding::decode_to_vec(text, None).ok()?;
    (encode(&bytes).ok()? == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use ct_codecs::Base64;

    use super::*;

    /// By another implementation (rage, by its Python module pyrage 1.4): the key, then a file for it, and an
    /// empty one for another key and this one. Both have a part of a kind that nobody knows.
    const KEY: &str = "AGE-SECRET-KEY-1VN2U6U4YGYUSVKY60FR7XLFRMDG4DWRW0XU2JCUFUE74GFFAJ9RQZTWGQ4";
    const FILE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBjRi9mdGU1bnF3dUZueW9aZDRZL2xRaHV2Y0pjbjRZaTNnK3liUEwxUUdFCkEyL1BCNCtHYys0NmZuRlNWRzlCSXFlR1AvTys3V1ZGeGQ0VGpSbzdHYkEKLT4ga3VUfiItZ3JlYXNlIDVqTSJ7bF8gRUQ1IFNsWz52CnhpUy9WQWhLenVsaFBucndBRjJxM3p5alRwYzZtdjZraXVVTkNQdkIydwotLS0gYmlQeldqakxKenhGQkRoM0hkUGZESjVWbFhmM3VEcWJsems4b2VPYWF3MAriLMg/gTr7NzKLwXlOKB3d8saIh0w+Yz/E8lVEVTSnwdzvL0v1EfGapR9bObI=";
    const EMPTY: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBSdXlqRTB1YVNRK25DKzdJUFpFTU43M1dyLzFvREJVTWFvS0RMR3A2UUZrCk5xWExkSk9MN25zNExoK2xOK2pHekZHTUM2TnNlWTd0azlhN1lCSUJDS2MKLT4gWDI1NTE5IHJuYjd4TjhZdjFURGVZeVhBcDhwN3MrTTJZeklZdXBUdEVqbFplT3VvbHcKcGtyTmVMY0NpY0pHVDFzb0pwQk9Wam1RaFZ6RndsQm9TVHdpTmNyT1hmawotPiBudHhlK18vLWdyZWFzZQpLTS9hTWRPT09ZWlJ1NkJmK1hXQzZZSHhTcjkvR3pMYTUzODAvVTJwN21QR0xJeVdqamhLTG4rTHU2andlYzFsCnRneWhHR0FBQ292eFAwajIyWjkyS0pVRHRtbjhKNHFKd2VmQ0tIS0g3Y1FkZEhkM054SWtpY20zNEFieXhIOAotLS0gajlrd2NablM5WTJxTkJVSjdnSUdKVXpoUWVyYlpjVi9VU0YvaGxEY0Vpdwpc/X6NEd5NPnb0Qey+RxF7/0+xaPCIRoKnCAI9RXiKNg==";

    fn of(text: &str) -> Vec<u8> {
        Base64::decode_to_vec(text, None).unwrap()
    }

    #[test]
    fn files_of_age_are_read() {
        let key = HostKey::read(KEY).unwrap();
        assert_eq!(decrypt(&of(FILE), &key).unwrap(), b"expected: 42\n");
        assert_eq!(decrypt(&of(EMPTY), &key).unwrap(), b"");
        let other = HostKey::generate().unwrap();
        assert!(matches!(decrypt(&of(FILE), &other), Err(SealError::Recipient { .. })));
    }

    #[test]
    fn only_the_host_reads_it_and_every_change_is_noticed() {
        let (host, other) = (HostKey::generate().unwrap(), HostKey::generate().unwrap());
        let to = host.recipient().unwrap();
        let file = encrypt(b"expected: 42", &to).unwrap();
        assert_eq!(decrypt(&file, &host).unwrap(), b"expected: 42");
        assert_eq!(decrypt(&file, &other), Err(SealError::Recipient { own: other.recipient().unwrap().to_string() }));
        assert_ne!(encrypt(b"expected: 42", &to).unwrap(), file, "twice the same file tells that it is the same");
        for (place, bit) in (0..file.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
            let mut altered = file.clone();
            altered[place] ^= 1 << bit;
            assert!(decrypt(&altered, &host).is_err(), "byte {place}, bit {bit}");
        }
        for length in 0..file.len() {
            assert!(decrypt(&file[..length], &host).is_err(), "{length} bytes");
        }
        let armoured = decrypt(b"-----BEGIN AGE ENCRYPTED FILE-----\n", &host).unwrap_err().to_string();
        assert!(armoured.contains("--armor"), "{armoured}");
    }

    #[test]
    fn chunks_cannot_be_left_out_or_put_elsewhere() {
        let host = HostKey::generate().unwrap();
        let to = host.recipient().unwrap();
        for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            assert!(decrypt(&encrypt(&bytes, &to).unwrap(), &host).unwrap() == bytes, "{size} bytes");
        }
        let file = encrypt(&[7; 3 * CHUNK], &to).unwrap();
        let start = file.len() - 3 * (CHUNK + TAG);
        let chunk = |number: usize| &file[start + number * (CHUNK + TAG)..][..CHUNK + TAG];
        for order in [&[0, 1][..], &[1, 2], &[1, 0, 2], &[0, 1, 1, 2], &[]] {
            let mut altered = file[..start].to_vec();
            order.iter().for_each(|number| altered.extend_from_slice(chunk(*number)));
            assert_eq!(decrypt(&altered, &host), Err(SealError::Altered), "{order:?}");
        }
    }
}
