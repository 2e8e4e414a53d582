//! What the optimizer keeps for each weight, and how a step changes both.

use std::cell::RefCell;

use candle_core::{CpuStorage, InplaceOp1, Layout, Tensor};

use super::{Settings, muon};
use crate::kernels::pool::Pool;
use crate::kernels::vectorised;
use crate::scores::values_of;
use crate::{Parameter, Result};

/// First and second moment, with the weight they belong to.
#[derive(Clone, Debug)]
pub(super) enum Moments {
    /// On the CPU: changed in place.
    Host { dims: Vec<usize>, first: Vec<f32>, second: Vec<f32> },
    /// On another device.
    Device { first: Tensor, second: Tensor },
}

impl Moments {
    pub(super) fn zero(parameter: &Parameter) -> Result<Moments> {
        let zero = parameter.var.zeros_like()?;
        Moments::of(parameter, &zero, &zero)
    }

    pub(super) fn of(parameter: &Parameter, first: &Tensor, second: &Tensor) -> Result<Moments> {
        let device = parameter.var.device();
        if device.is_cpu() {
            let values = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
            let dims = parameter.var.dims().to_vec();
            return Ok(Moments::Host { dims, first: values(first)?, second: values(second)? });
        }
        Ok(Moments::Device { first: first.to_device(device)?, second: second.to_device(device)? })
    }

    /// Changes a weight in place.
    pub(super) fn step(&mut self, pool: &Pool, parameter: &Parameter, gradient: &Tensor, rule: Rule) -> Result<()> {
        match self {
            Moments::Host { first, second, .. } => host_step(pool, parameter, gradient, (first, second), rule),
            Moments::Device { first, second } => device_step(parameter, gradient, (first, second), rule),
        }
    }

    /// Changes a matrix in place as Muon does; the second moment stays as it is.
    pub(super) fn step_orthogonally(
        &mut self,
        parameter: &Parameter,
        gradient: &Tensor,
        rule: Rule,
        learning_rate: f64,
    ) -> Result<()> {
        let gradient = (gradient.detach() * rule.shrink)?;
        let direction = match self {
            Moments::Host { dims, first, .. } => {
                let gradient: Vec<f32> = gradient.flatten_all()?.to_vec1()?;
                let columns = dims.last().copied().unwrap_or(1);
                let direction = muon::host_direction(first, &gradient, columns);
                Tensor::from_vec(direction, dims.as_slice(), parameter.var.device())?
            }
            Moments::Device { first, .. } => {
                let (after, direction) = muon::device_direction(first, &gradient)?;
                *first = after;
                direction
            }
        };
        let weights = ((parameter.var.as_detached_tensor() * rule.keep)? - (direction * learning_rate)?)?;
        Ok(parameter.var.set(&weights)?)
    }
}

/// The numbers of one step for one weight.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    /// What the gradient is multiplied with: clipping.
    shrink: f64,
    /// What a weight keeps of itself.
    keep: f64,
    /// Learning rate over `1 - β₁ᵗ`.
    rate: f64,
    /// One over `√(1 - β₂ᵗ)`.
    spread: f64,
}

impl Rule {
    pub(super) fn new(settings: &Settings, steps: u64, learning_rate: f64, shrink: f64, decays: bool) -> Rule {
        let Settings { beta1, beta2, epsilon, weight_decay, .. } = *settings;
        let steps = i32::try_from(steps).unwrap_or(i32::MAX);
        Rule {
            beta1,
            beta2,
            epsilon,
            shrink,
            keep: if decays { 1.0 - learning_rate * weight_decay } else { 1.0 },
            rate: learning_rate / (1.0 - beta1.powi(steps)),
            spread: 1.0 / (1.0 - beta2.powi(steps)).sqrt(),
        }
    }

    /// Steps some weights.
    fn apply(self, weights: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        let (beta1, beta2, epsilon) = (self.beta1 as f32, self.beta2 as f32, self.epsilon as f32);
        let (rest1, rest2) = ((1.0 - self.beta1) as f32, (1.0 - self.beta2) as f32);
        let (shrink, keep, rate, spread) = (self.shrink as f32, self.keep as f32, self.rate as f32, self.spread as f32);
        vectorised(
            #[inline(always)]
            || {
                let moments = first.iter_mut().zip(second);
                for ((weight, gradient), (first, second)) in weights.iter_mut().zip(gradient).zip(moments) {
                    let gradient = gradient * shrink;
                    *first = beta1 * *first + rest1 * gradient;
                    *second = beta2 * *second + rest2 * gradient * gradient;
                    *weight = *weight * keep - rate * *first / (second.sqrt() * spread + epsilon);
                }
            },
        );
    }
}

/// Steps a weight on the CPU where it lies.
struct InPlace<'a> {
    pool: &'a Pool,
    gradient: &'a [f32],
    moments: RefCell<(&'a mut [f32], &'a mut [f32])>,
    rule: Rule,
}

impl InplaceOp1 for InPlace<'_> {
    fn name(&self) -> &'static str {
        "adamw"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, _: &Layout) -> candle_core::Result<()> {
        const PIECE: usize = 1 << 16;
        let CpuStorage::F32(weights) = storage else { candle_core::bail!("adamw steps f32 weights") };
        let mut moments = self.moments.borrow_mut();
        let (first, second) = &mut *moments;
        let pairs = weights.chunks_mut(PIECE).zip(self.gradient.chunks(PIECE));
        let tasks = pairs.zip(first.chunks_mut(PIECE).zip(second.chunks_mut(PIECE))).collect();
        let rule = self.rule;
        self.pool.each(tasks, |((weights, gradient), (first, second))| {
            rule.apply(weights, gradient, first, second);
        });
        Ok(())
    }
}

fn host_step(
    pool: &Pool,
    parameter: &Parameter,
    gradient: &Tensor,
    moments: (&mut [f32], &mut [f32]),
    rule: Rule,
) -> Result<()> {
    let gradient = gradient.contiguous()?;
    let storage = gradient.storage_and_layout().0;
    let gradient = values_of(&storage, &gradient)?;
    parameter.var.inplace_op1(&InPlace { pool, gradient, moments: RefCell::new(moments), rule })?;
    Ok(())
}

fn device_step(
    parameter: &Parameter,
    gradient: &Tensor,
    (first, second): (&mut Tensor, &mut Tensor),
    rule: Rule,
) -> Result<()> {
    let gradient = (gradient.detach() * rule.shrink)?;
    *first = ((&*first * rule.beta1)? + (&gradient * (1.0 - rule.beta1))?)?;
    *second = ((&*second * rule.beta2)? + (gradient.sqr()? * (1.0 - rule.beta2))?)?;
    let spread = ((second.sqrt()? * rule.spread)? + rule.epsilon)?;
    let weights = ((parameter.var.as_detached_tensor() * rule.keep)? - (&*first / spread)?.affine(rule.rate, 0.0)?)?;
    Ok(parameter.var.set(&weights)?)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    #[test]
    fn both_ways_to_step_agree() {
        let values = |salt: usize| (0..40).map(|i| ((i * salt % 17) as f32 - 8.0) / 5.0).collect::<Vec<f32>>();
        let parameter = |salt| {
            let var = Var::from_vec(values(salt), (5, 8), &Device::Cpu).unwrap();
            Parameter { name: "weight".to_owned(), var, trainable: true, decays: true }
        };
        let (host, device) = (parameter(3), parameter(3));
        let zero = host.var.zeros_like().unwrap();
        let mut on_host = Moments::zero(&host).unwrap();
        let mut on_device = Moments::Device { first: zero.clone(), second: zero };
        for step in 1..=4 {
            let gradient = Tensor::from_vec(values(5 + step as usize), (5, 8), &Device::Cpu).unwrap();
            let rule = Rule::new(&Settings::default(), step, 0.01, 0.7, true);
            on_host.step(&Pool::alone(), &host, &gradient, rule).unwrap();
            on_device.step(&Pool::alone(), &device, &gradient, rule).unwrap();
        }
        let flat = |parameter: &Parameter| parameter.var.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_ne!(flat(&host), values(3));
        assert!(flat(&host).iter().zip(flat(&device)).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}
