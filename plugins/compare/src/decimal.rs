//! Exact decimals of any size: reading, comparing, adding, and the tolerance of floats.

use std::cmp::Ordering;
use std::fmt;

/// `digits * 10^exponent`, the digits without zeros at either end; zero has none and is positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// 0 to 9, the greatest place first.
    digits: Vec<u8>,
    exponent: i32,
}

/// The greatest power of ten that is read, and the longest text: far more than any engine gives.
const MAX_EXPONENT: i32 = 10_000;
const MAX_TEXT: usize = 10_000;

impl Decimal {
    /// Reads `-12.50`, `1e-7`, `+.5`; none for anything else, nor for more than 10,000 digits or
    /// powers of ten.
    #[must_use]
    pub fn read(text: &str) -> Option<Decimal> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let e = rest.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (number, power) = match e {
            Some(e) => (rest.get(..e)?, read_power(rest.get(e + 1..)?)?),
            None => (rest, 0),
        };
        let mut digits = Vec::with_capacity(number.len());
        let mut point = None;
        for byte in number {
            match byte {
                b'0'..=b'9' => digits.push(byte - b'0'),
                b'.' if point.is_none() => point = Some(digits.len()),
                _ => return None,
            }
        }
        if digits.is_empty() {
            return None;
        }
        let fraction = digits.len() - point.unwrap_or(digits.len());
        let exponent = power - i32::try_from(fraction).ok()?;
        Some(Decimal { negative, digits, exponent }.trimmed())
    }

    /// The number of a finite double: its shortest text that reads back as the same double.
    #[must_use]
    pub fn of_float(x: f64) -> Option<Decimal> {
        Decimal::read(&format!("{x:e}"))
    }

    fn trimmed(mut self) -> Decimal {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        let leading = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..leading);
        if self.digits.is_empty() {
            self.negative = false;
            self.exponent = 0;
        }
        self
    }

    /// Whether at most `scale` digits stand after the point.
    pub(crate) fn fits_scale(&self, scale: u32) -> bool {
        i64::from(self.exponent) >= -i64::from(scale)
    }

    /// The integer that this is, if it is one.
    pub(crate) fn integer(&self) -> Option<i64> {
        let zeros = u32::try_from(self.exponent).ok()?;
        let start = 10_i128.checked_pow(zeros).filter(|_| self.digits.len() <= 19)?;
        let whole = self.digits.iter().fold(0_i128, |whole, digit| whole * 10 + i128::from(*digit));
        let value = whole.checked_mul(start)?;
        i64::try_from(if self.negative { -value } else { value }).ok()
    }

    /// The number in units of the last of `scale` digits after the point, where it is one.
    pub(crate) fn units(&self, scale: u32) -> Option<i128> {
        let zeros = i64::from(self.exponent) + i64::from(scale);
        let power = 10_i128.checked_pow(u32::try_from(zeros).ok()?)?;
        let digits = self
            .digits
            .iter()
            .try_fold(0_i128, |units, digit| units.checked_mul(10)?.checked_add(i128::from(*digit)))?;
        let units = digits.checked_mul(power)?;
        Some(if self.negative { -units } else { units })
    }

    /// Whether it is above zero.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        !self.negative && !self.digits.is_empty()
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Decimal) -> Decimal {
        let (a, b) = (self.magnitude(), other.magnitude());
        if self.negative == other.negative {
            return a.plus(&b).signed(self.negative);
        }
        let of_greater = if a.compare(&b).is_ge() { self } else { other };
        a.minus(&b).signed(of_greater.negative)
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Decimal) -> Decimal {
        self.plus(&other.magnitude().signed(!other.negative))
    }

    /// By value.
    #[must_use]
    pub fn compare(&self, other: &Decimal) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude().compare(&other.magnitude()),
            (true, true) => other.magnitude().compare(&self.magnitude()),
        }
    }

    fn magnitude(&self) -> Magnitude {
        Magnitude { digits: self.digits.clone(), exponent: self.exponent }
    }
}

/// Plain digits, without zeros that say nothing: `12.5`, `-0.001`, `1200`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let places = usize::try_from(-self.exponent).unwrap_or(0);
        let mut digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        digits.extend((0..self.exponent).map(|_| '0'));
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
        let whole = if whole.is_empty() { "0" } else { whole };
        match places {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{fraction:0>places$}"),
        }
    }
}

fn read_power(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() {
        return None;
    }
    let power = digits.iter().try_fold(0_i32, |power, digit| {
        let power = power.checked_mul(10)?.checked_add(i32::from(digit.wrapping_sub(b'0')))?;
        (digit.is_ascii_digit() && power <= MAX_EXPONENT).then_some(power)
    })?;
    Some(if negative { -power } else { power })
}

/// [`Decimal::units`] of a plain text, quickly; none for what takes the long way.
pub(crate) fn quick_units(text: &str, scale: u32) -> Option<i64> {
    let (negative, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if rest.is_empty() || rest.len() > 17 || scale > 8 {
        return None;
    }
    let (mut units, mut fraction, mut point) = (0_i64, 0, false);
    for byte in rest {
        match byte {
            b'0'..=b'9' => {
                units = units * 10 + i64::from(byte - b'0');
                fraction += u32::from(point);
            }
            b'.' if !point && rest.len() > 1 => point = true,
            _ => return None,
        }
    }
    let missing = scale.checked_sub(fraction)?;
    let units = units.checked_mul(10_i64.pow(missing))?;
    Some(if negative { -units } else { units })
}

/// Whether a text is a decimal that [`Decimal::read`] reads.
pub(crate) fn is_decimal(text: &str) -> bool {
    quick_units(text, 8).is_some() || Decimal::read(text).is_some()
}

/// A number at least 0, `digits * 10^exponent`.
#[derive(Clone)]
struct Magnitude {
    digits: Vec<u8>,
    exponent: i32,
}

impl Magnitude {
    /// Two numbers with their digits at the same places, the greatest first.
    fn aligned(&self, other: &Magnitude) -> (Vec<u8>, Vec<u8>, i32) {
        let exponent = self.exponent.min(other.exponent);
        let spread = |number: &Magnitude| {
            let zeros = usize::try_from(number.exponent - exponent).unwrap_or(0);
            let mut digits = number.digits.clone();
            digits.resize(digits.len() + zeros, 0);
            digits
        };
        let (a, b) = (spread(self), spread(other));
        let length = a.len().max(b.len());
        let padded = |digits: Vec<u8>| {
            let mut padded = vec![0; length - digits.len()];
            padded.extend(digits);
            padded
        };
        (padded(a), padded(b), exponent)
    }

    fn compare(&self, other: &Magnitude) -> Ordering {
        // The place of the greatest digit decides before anything has to be laid out.
        let places = |number: &Magnitude| match number.digits.len() {
            0 => i64::MIN,
            length => i64::try_from(length).unwrap_or(i64::MAX) + i64::from(number.exponent),
        };
        places(self).cmp(&places(other)).then_with(|| {
            let (a, b, _) = self.aligned(other);
            a.cmp(&b)
        })
    }

    fn plus(&self, other: &Magnitude) -> Magnitude {
        let (a, b, exponent) = self.aligned(other);
        let mut carry = 0;
        let mut digits: Vec<u8> = (a.iter().zip(&b).rev())
            .map(|(a, b)| {
                let sum = a + b + carry;
                carry = sum / 10;
                sum % 10
            })
            .collect();
        digits.push(carry);
        digits.reverse();
        Magnitude { digits, exponent }.trimmed()
    }

    /// The distance between two numbers.
    fn minus(&self, other: &Magnitude) -> Magnitude {
        let (a, b, exponent) = self.aligned(other);
        let (great, small) = if a >= b { (a, b) } else { (b, a) };
        let mut borrow = 0;
        let mut digits: Vec<u8> = (great.iter().zip(&small).rev())
            .map(|(a, b)| {
                let less = b + borrow;
                borrow = u8::from(*a < less);
                a + 10 * borrow - less
            })
            .collect();
        digits.reverse();
        Magnitude { digits, exponent }.trimmed()
    }

    fn times(&self, other: &Magnitude) -> Magnitude {
        let mut places = vec![0_u32; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().rev().enumerate() {
            let mut carry = 0;
            for (place, b) in places.iter_mut().skip(i).zip(other.digits.iter().rev()) {
                let sum = *place + u32::from(*a) * u32::from(*b) + carry;
                *place = sum % 10;
                carry = sum / 10;
            }
            if let Some(place) = places.get_mut(i + other.digits.len()) {
                *place += carry;
            }
        }
        let digits = places.iter().rev().map(|digit| u8::try_from(*digit).unwrap_or(0)).collect();
        let exponent = self.exponent + other.exponent;
        Magnitude { digits, exponent }.trimmed()
    }

    fn signed(self, negative: bool) -> Decimal {
        Decimal { negative, digits: self.digits, exponent: self.exponent }.trimmed()
    }

    fn trimmed(self) -> Magnitude {
        let Decimal { digits, exponent, .. } = self.signed(false);
        Magnitude { digits, exponent }
    }
}

/// How far apart two doubles may be and still be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tolerance {
    pub(crate) abs: f64,
    pub(crate) rel: f64,
}

impl Tolerance {
    /// Whether `|a - b| <= max(abs, rel * max(|a|, |b|))`, in exact decimal arithmetic on the
    /// shortest round-trip texts of all four. Both doubles are finite.
    pub(crate) fn covers(self, a: f64, b: f64) -> bool {
        if a == b {
            return true;
        }
        let great = a.abs().max(b.abs());
        let distance = (a - b).abs();
        let bound = self.abs.max(self.rel * great);
        // A shortest text is within half a unit of its double, and so is every result here:
        // together well below 8 units of the greatest number. Only inside that band is there
        // something to find out. Near the ends of the range of doubles that does not hold.
        if great < 1e300 && great > 1e-290 && self.abs < 1e300 {
            let band = 8.0 * f64::EPSILON * great.max(bound);
            if distance + band < bound {
                return true;
            }
            if distance - band > bound {
                return false;
            }
        }
        self.covers_exactly(a, b).unwrap_or(false)
    }

    fn covers_exactly(self, a: f64, b: f64) -> Option<bool> {
        let (x, y) = (Decimal::of_float(a)?, Decimal::of_float(b)?);
        let (p, q) = (x.magnitude(), y.magnitude());
        let distance = if x.negative == y.negative { p.minus(&q) } else { p.plus(&q) };
        let great = if p.compare(&q).is_ge() { p } else { q };
        let relative = Decimal::of_float(self.rel)?.magnitude().times(&great);
        let absolute = Decimal::of_float(self.abs)?.magnitude();
        let covered = |bound: &Magnitude| distance.compare(bound).is_le();
        Some(covered(&absolute) || covered(&relative))
    }
}

#[cfg(test)]
#[path = "decimal_tests.rs"]
mod tests;
