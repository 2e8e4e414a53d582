//! The same model out of candle's own differentiable operations: what runs on a GPU, and what the
//! hand-written passes are held against.
//!
//! Only operations that keep their gradient may stand here. Candle's fused ones (`softmax_last_dim`,
//! `rms_norm`, `rope` and others) drop it without a word.

use candle_core::{D, DType, Device, Tensor};

use crate::engine::{Span, spans};
use crate::model::layout::Places;
use crate::scores::Source;
use crate::{Model, Packed, Result, Scores, Shape};

/// What a softmax adds to what must not be chosen: minus infinity would make `0 · ∞` of a gradient.
const NEVER: f64 = -1e9;

/// Log-probabilities of a batch that was checked, computed in the given precision.
pub(crate) fn forward(model: &Model, batch: &Packed, precision: DType) -> Result<Scores> {
    let pass = Pass::new(model, batch, precision)?;
    let mut x = pass.weight(Places::of(&model.shape).embedding())?.index_select(&pass.index(&batch.tokens)?, 0)?;
    for (distance, place) in (1..).zip(Places::of(&model.shape).earlier()) {
        x = (x + pass.earlier(distance, place, batch)?)?;
    }
    for layer in 0..model.shape.layers {
        x = pass.block(layer, &x)?;
    }
    pass.score(batch, &x)
}

struct Pass<'a> {
    model: &'a Model,
    precision: DType,
    spans: Vec<Span>,
    /// Length of the longest sequence: attention works on padded sequences.
    longest: usize,
    /// For each place of the padded sequences a row.
    pad: Tensor,
    /// For each row its place in the padded sequences.
    unpad: Tensor,
    cosines: Tensor,
    sines: Tensor,
    /// 0 where a key may be seen, [`NEVER`] where not; `longest × longest`.
    causal: Tensor,
}

impl<'a> Pass<'a> {
    fn new(model: &'a Model, batch: &Packed, precision: DType) -> Result<Pass<'a>> {
        let (device, spans) = (&model.device, spans(batch));
        let longest = spans.iter().map(|span| span.len).max().unwrap_or(0);
        let place = |span: &Span, token: usize| (span.start + token.min(span.len - 1)) as u32;
        let pad: Vec<u32> = spans.iter().flat_map(|span| (0..longest).map(move |token| place(span, token))).collect();
        let starts = spans.iter().enumerate();
        let unpad: Vec<u32> =
            starts.flat_map(|(index, span)| (0..span.len).map(move |token| (index * longest + token) as u32)).collect();
        let (cosines, sines) = model.rope.tables(0..longest);
        let half = model.shape.head() / 2;
        let table =
            |values| Ok::<_, crate::Error>(Tensor::from_vec(values, (longest, half), device)?.to_dtype(precision)?);
        let causal: Vec<f32> = (0..longest)
            .flat_map(|query| (0..longest).map(move |key| if key <= query { 0.0 } else { NEVER as f32 }))
            .collect();
        Ok(Pass {
            model,
            precision,
            pad: Tensor::new(pad, device)?,
            unpad: Tensor::new(unpad, device)?,
            cosines: table(cosines)?,
            sines: table(sines)?,
            causal: Tensor::from_vec(causal, (longest, longest), device)?.to_dtype(precision)?,
            spans,
            longest,
        })
    }

    fn device(&self) -> &Device {
        &self.model.device
    }

    /// For each row what the token so far before it in its sequence adds; nothing where there is none.
    fn earlier(&self, distance: usize, place: usize, batch: &Packed) -> Result<Tensor> {
        let rows = || self.spans.iter().flat_map(|span| (0..span.len).map(|row| (row >= distance, span.start + row)));
        let before: Vec<u32> =
            rows().map(|(there, row)| if there { batch.tokens[row - distance] } else { batch.tokens[row] }).collect();
        let there: Vec<f32> = rows().map(|(there, _)| if there { 1.0 } else { 0.0 }).collect();
        let there = Tensor::from_vec(there, (batch.tokens.len(), 1), self.device())?.to_dtype(self.precision)?;
        let embedding = self.weight(Places::of(&self.model.shape).embedding())?;
        let mixed = embedding.index_select(&self.index(&before)?, 0)?.matmul(&self.weight(place)?.t()?)?;
        Ok(mixed.broadcast_mul(&there)?)
    }

    fn index(&self, values: &[u32]) -> Result<Tensor> {
        Ok(Tensor::new(values, self.device())?)
    }

    /// A parameter; one that is frozen stays out of the graph.
    fn own(&self, place: usize) -> Result<Tensor> {
        let parameter = &self.model.parameters[place];
        let tensor = parameter.var.as_tensor();
        let tensor = if parameter.trainable { tensor.clone() } else { tensor.detach() };
        Ok(tensor.to_dtype(self.precision)?)
    }

    /// A matrix with its adapters.
    fn weight(&self, place: usize) -> Result<Tensor> {
        let mut weight = self.own(place)?;
        let adapters = self.model.adapters.iter().filter(|adapter| adapter.base == place);
        let mut parts = Vec::new();
        for adapter in adapters {
            let product = self.own(adapter.b)?.matmul(&self.own(adapter.a)?)?;
            parts.push((product * f64::from(adapter.scale))?);
        }
        if !parts.is_empty() {
            // The adapters of a matrix cover its rows from top to bottom.
            weight = (weight + Tensor::cat(&parts, 0)?)?;
        }
        Ok(weight)
    }

    fn norm(&self, x: &Tensor, place: usize) -> Result<Tensor> {
        let mean = x.sqr()?.mean_keepdim(D::Minus1)?;
        let root = (mean + f64::from(self.model.shape.eps))?.sqrt()?;
        Ok(x.broadcast_div(&root)?.broadcast_mul(&self.own(place)?)?)
    }

    fn block(&self, layer: usize, x: &Tensor) -> Result<Tensor> {
        let (shape, places) = (&self.model.shape, Places::of(&self.model.shape).block(layer));
        let mut qkv = self.norm(x, places.attention_norm)?.matmul(&self.weight(places.qkv)?.t()?)?;
        if let Some(bias) = places.bias {
            qkv = qkv.broadcast_add(&self.own(bias)?)?;
        }
        let mixed = self.attention(&qkv)?.matmul(&self.weight(places.output)?.t()?)?;
        let x = (x + mixed)?;
        let gate_up = self.norm(&x, places.feed_norm)?.matmul(&self.weight(places.gate_up)?.t()?)?;
        let gate = gate_up.narrow(1, 0, shape.hidden)?.silu()?;
        let active = (gate * gate_up.narrow(1, shape.hidden, shape.hidden)?)?;
        Ok((x + active.matmul(&self.weight(places.down)?.t()?)?)?)
    }

    fn attention(&self, qkv: &Tensor) -> Result<Tensor> {
        let shape = &self.model.shape;
        let (query, key, head) = (shape.query(), shape.key(), shape.head());
        let (count, longest) = (self.spans.len(), self.longest);
        let padded = qkv.index_select(&self.pad, 0)?;
        let part = |from: usize, heads: usize| {
            let part = padded.narrow(1, from, heads * head)?.contiguous()?;
            part.reshape((count, longest, heads, head))?.transpose(1, 2)?.contiguous()
        };
        let queries = self.rotate(&part(0, shape.heads)?)?;
        let keys = self.share(&self.rotate(&part(query, shape.kv_heads)?)?)?;
        let values = self.share(&part(query + key, shape.kv_heads)?)?;
        let scores = (queries.matmul(&keys.t()?.contiguous()?)? / (head as f64).sqrt())?;
        let weights = softmax(&scores.broadcast_add(&self.causal)?)?;
        let mixed = weights.matmul(&values)?.transpose(1, 2)?.contiguous()?;
        Ok(mixed.reshape((count * longest, query))?.index_select(&self.unpad, 0)?)
    }

    /// Turns `[sequence, head, position, width]`.
    fn rotate(&self, x: &Tensor) -> Result<Tensor> {
        let half = self.model.shape.head() / 2;
        let (a, b) = (x.narrow(D::Minus1, 0, half)?.contiguous()?, x.narrow(D::Minus1, half, half)?.contiguous()?);
        let first = (a.broadcast_mul(&self.cosines)? - b.broadcast_mul(&self.sines)?)?;
        let second = (b.broadcast_mul(&self.cosines)? + a.broadcast_mul(&self.sines)?)?;
        Ok(Tensor::cat(&[first, second], D::Minus1)?)
    }

    /// Repeats each key head for the query heads that share it.
    fn share(&self, x: &Tensor) -> Result<Tensor> {
        let Shape { heads, kv_heads, .. } = self.model.shape;
        let (count, _, longest, head) = x.dims4()?;
        let repeated = x.unsqueeze(2)?.broadcast_as((count, kv_heads, heads / kv_heads, longest, head))?;
        Ok(repeated.contiguous()?.reshape((count, heads, longest, head))?)
    }

    fn score(&self, batch: &Packed, x: &Tensor) -> Result<Scores> {
        let places = Places::of(&self.model.shape);
        let rows: Vec<u32> = batch.targets.iter().map(|target| target.row as u32).collect();
        let tokens: Vec<u32> = batch.targets.iter().map(|target| target.token).collect();
        let last = self.norm(&x.index_select(&self.index(&rows)?, 0)?, places.norm())?;
        let logits = last.matmul(&self.weight(places.head())?.t()?)?;
        let masked = match self.mask(batch)? {
            Some(mask) => (&logits + mask)?,
            None => logits.clone(),
        };
        let lse = log_sum_exp(&masked)?;
        let chosen = masked.gather(&self.index(&tokens)?.unsqueeze(1)?, 1)?;
        let log_probs = (chosen - &lse)?.squeeze(1)?;
        let entropy = (&lse.detach() - (softmax(&masked.detach())? * masked.detach())?.sum_keepdim(1)?)?;
        let kept = (lse.detach() - log_sum_exp(&logits.detach())?)?.exp()?;
        let numbers = |tensor: &Tensor| tensor.squeeze(1)?.to_dtype(DType::F32)?.to_vec1::<f32>();
        let removed = numbers(&kept)?.into_iter().map(|kept| (1.0 - kept).clamp(0.0, 1.0)).collect();
        let source = Source::Graph { model: Box::new(self.model.clone()) };
        Ok(Scores { log_probs, entropy: numbers(&entropy)?, removed, source })
    }

    /// What to add to the logits, if any scored token has a mask.
    fn mask(&self, batch: &Packed) -> Result<Option<Tensor>> {
        if batch.targets.iter().all(|target| target.mask.is_none()) {
            return Ok(None);
        }
        let vocab = self.model.shape.vocab;
        let allows = |target: &crate::packed::Target, token: usize| {
            target.mask.as_ref().is_none_or(|mask| mask.allows(token as u32))
        };
        let values: Vec<f32> = (batch.targets.iter())
            .flat_map(|target| (0..vocab).map(move |token| if allows(target, token) { 0.0 } else { NEVER as f32 }))
            .collect();
        let mask = Tensor::from_vec(values, (batch.targets.len(), vocab), self.device())?;
        Ok(Some(mask.to_dtype(self.precision)?))
    }
}

fn softmax(x: &Tensor) -> Result<Tensor> {
    let weights = x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?.exp()?;
    Ok(weights.broadcast_div(&weights.sum_keepdim(D::Minus1)?)?)
}

fn log_sum_exp(x: &Tensor) -> Result<Tensor> {
    let greatest = x.detach().max_keepdim(D::Minus1)?;
    Ok((x.broadcast_sub(&greatest)?.exp()?.sum_keepdim(D::Minus1)?.log()? + greatest)?)
}
