//! Decimals as canonical text: optional sign, digits, optional point and digits.

use rust_decimal::Decimal;

/// The most bytes that a decimal takes: a sign, 29 digits, a point and a zero before it.
const MOST: usize = 34;

/// Appends the text of a decimal, all digits of its scale included; zero has no sign.
///
/// The library's own formatter takes about 60 ns a number, and a column has thousands.
pub(crate) fn write(decimal: &Decimal, text: &mut String) {
    let (mantissa, scale) = (decimal.mantissa(), decimal.scale() as usize);
    let mut bytes = [b'0'; MOST];
    let mut at = MOST;
    let mut digits = 0;
    let mut put = |at: &mut usize, byte: u8| {
        *at -= 1;
        if let Some(slot) = bytes.get_mut(*at) {
            *slot = byte;
        }
    };
    let mut rest = mantissa.unsigned_abs();
    while rest > 0 || digits <= scale {
        if digits == scale && scale > 0 {
            put(&mut at, b'.');
        }
        // Division of 128 bits is slow, and few numbers need it.
        let digit = match u64::try_from(rest) {
            Ok(small) => {
                rest = u128::from(small / 10);
                (small % 10) as u8
            }
            Err(_) => {
                let digit = (rest % 10) as u8;
                rest /= 10;
                digit
            }
        };
        put(&mut at, b'0' + digit);
        digits += 1;
    }
    if mantissa < 0 {
        put(&mut at, b'-');
    }
    text.push_str(bytes.get(at..).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default());
}

/// Reads canonical text without rounding; none for any other text, or past 28 digits or so.
pub(crate) fn read(text: &str) -> Option<Decimal> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = if negative { digits } else { digits.strip_prefix('+').unwrap_or(digits) };
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let all = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all(whole) || !fraction.is_none_or(all) {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    if whole.len() + fraction.len() > 18 {
        return Decimal::from_str_exact(text).ok();
    }
    let bytes = whole.bytes().chain(fraction.bytes());
    let mantissa = bytes.fold(0_i64, |sum, byte| sum * 10 + i64::from(byte - b'0'));
    Some(Decimal::new(if negative { -mantissa } else { mantissa }, fraction.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(decimal: Decimal) -> String {
        let mut text = String::new();
        write(&decimal, &mut text);
        text
    }

    #[test]
    fn text_and_number_agree_with_the_library() {
        let mantissas = [0, 1, -1, 7, 10, 99, 12_345, -1_000_000, i64::MAX, i64::MIN + 1];
        for mantissa in mantissas {
            for scale in 0..=28 {
                let decimal = Decimal::new(mantissa, scale);
                assert_eq!(text(decimal), decimal.to_string());
                assert_eq!(read(&text(decimal)), Some(decimal));
                assert_eq!(read(&text(decimal)).unwrap().scale(), scale, "{decimal}");
            }
        }
        for extreme in [Decimal::MAX, Decimal::MIN, Decimal::from_parts(1, 2, 3, true, 28)] {
            assert_eq!(text(extreme), extreme.to_string());
            assert_eq!(read(&extreme.to_string()), Some(extreme));
        }
    }

    #[test]
    fn a_zero_has_no_sign() {
        assert_eq!(text(Decimal::from_parts(0, 0, 0, true, 2)), "0.00");
        assert!(!read("-0.00").unwrap().is_sign_negative());
    }

    #[test]
    fn only_canonical_text_is_read() {
        for wrong in ["", "-", "+-1", ".5", "5.", "1e3", "1_000", "1.2.3", " 1", "١", "NaN"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read(&"9".repeat(40)), None);
        // Exact or not at all: 29 decimal places cannot be held.
        assert_eq!(read(&format!("0.{}1", "0".repeat(28))), None);
        assert_eq!(read("+007.50"), Some(Decimal::new(750, 2)));
    }
}
