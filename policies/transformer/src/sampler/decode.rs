//! The model over chunks of tokens that follow what each row's cache holds.

use super::{Row, Sampler};
use crate::engine::{Left, PIECE, Setting, enter, leave, product};
use crate::kernels::attention::{self, Queries};
use crate::kernels::buffer::Buffer;
use crate::kernels::cache::Cache;
use crate::kernels::matmul::Into;
use crate::kernels::norm;
use crate::kernels::pool::Pool;

impl Sampler {
    /// Reads a chunk into a row's cache; no output is wanted.
    pub(super) fn absorb(&self, row: &mut Row, chunk: &[u32]) {
        if !chunk.is_empty() {
            self.run(&self.pool, &mut [(row, chunk)], false);
        }
    }

    /// Reads a chunk into each row's cache and gives the logits after its last token, row by row.
    pub(super) fn outputs(&self, pool: &Pool, chunks: &mut [(&mut Row, &[u32])]) -> Vec<f32> {
        let shape = self.model.shape();
        let last = self.run(pool, chunks, true);
        let mut logits = vec![0.0; chunks.len() * shape.vocab];
        let tasks = last.chunks(PIECE * shape.dim).zip(logits.chunks_mut(PIECE * shape.vocab)).collect();
        pool.each(tasks, |(last, logits)| {
            let mut normed = Buffer::any(last.len());
            norm::forward(last, &self.norm, shape.eps, &mut normed);
            product(&normed, self.head.view(), logits, Into::Replace);
        });
        logits
    }

    /// All blocks; gives the residual stream at each chunk's last token. Without `wanted`, the last
    /// block stops once its keys and values are in the cache.
    fn run(&self, pool: &Pool, chunks: &mut [(&mut Row, &[u32])], wanted: bool) -> Vec<f32> {
        let (shape, dim) = (self.model.shape(), self.model.shape().dim);
        let tokens = || chunks.iter().flat_map(|(_, chunk)| *chunk);
        let mut x = Vec::with_capacity(tokens().count() * dim);
        for token in tokens() {
            x.extend_from_slice(&self.embedding[*token as usize * dim..][..dim]);
        }
        if shape.earlier > 0 {
            let places = chunks.iter().flat_map(|(row, chunk)| (0..chunk.len()).map(|at| (&row.recent, *chunk, at)));
            for (row, (recent, chunk, at)) in x.chunks_exact_mut(dim).zip(places) {
                self.earlier.add(row, chunk[..at].iter().rev().chain(recent.iter().rev()).copied());
            }
        }
        let positions: Vec<usize> =
            chunks.iter().flat_map(|(row, chunk)| row.cached..row.cached + chunk.len()).collect();
        let width = shape.query() + 2 * shape.key();
        let mut qkv = vec![0.0; positions.len() * width];
        for layer in 0..self.blocks.len() {
            let final_block = layer + 1 == self.blocks.len();
            self.enter(pool, layer, &x, &positions, &mut qkv);
            let mut mixed = self.attend(pool, layer, chunks, &qkv, wanted || !final_block);
            if final_block && !wanted {
                x.clear();
                break;
            }
            if final_block {
                // Only the last token of each chunk goes on.
                x = last_rows(chunks, &x, dim);
                mixed = last_rows(chunks, &mixed, shape.query());
            }
            x = self.leave(pool, layer, &x, &mixed);
        }
        for (row, chunk) in chunks {
            row.cached += chunk.len();
            row.recent.extend_from_slice(chunk);
            row.recent.drain(..row.recent.len().saturating_sub(shape.earlier));
        }
        x
    }

    fn enter(&self, pool: &Pool, layer: usize, x: &[f32], positions: &[usize], qkv: &mut [f32]) {
        let (shape, block) = (self.model.shape(), &self.blocks[layer]);
        let setting = Setting { shape, rope: &self.model.rope };
        let right = block.panels.qkv.view();
        let inputs = x.chunks(PIECE * shape.dim).zip(positions.chunks(PIECE));
        let tasks = inputs.zip(qkv.chunks_mut(PIECE * right.n)).collect();
        pool.each(tasks, |((x, positions), qkv)| {
            enter(setting, (&block.attention_norm, block.bias.as_deref()), right, x, positions, qkv);
        });
    }

    /// Puts keys and values into the caches, then mixes; the result lies row by row.
    fn attend(
        &self,
        pool: &Pool,
        layer: usize,
        chunks: &mut [(&mut Row, &[u32])],
        qkv: &[f32],
        wanted: bool,
    ) -> Vec<f32> {
        let shape = self.model.shape();
        let (query, width) = (shape.query(), shape.query() + 2 * shape.key());
        let mut mixed = vec![0.0; qkv.len() / width * query];
        let (mut tasks, mut qkv, mut rest) = (Vec::new(), qkv, mixed.as_mut_slice());
        for (row, chunk) in chunks {
            let (own, others) = qkv.split_at(chunk.len() * width);
            let (out, later) = std::mem::take(&mut rest).split_at_mut(chunk.len() * query);
            (qkv, rest) = (others, later);
            let caches = &mut row.caches[layer * shape.kv_heads..][..shape.kv_heads];
            tasks.push((row.cached, caches, own, out));
        }
        pool.each(tasks, |(first, caches, qkv, out)| {
            for (key_head, cache) in caches.iter_mut().enumerate() {
                self.attend_head(first, key_head, cache, qkv, wanted.then_some(&mut *out));
            }
        });
        mixed
    }

    /// One row, one key head.
    fn attend_head(&self, first: usize, key_head: usize, cache: &mut Cache, qkv: &[f32], out: Option<&mut [f32]>) {
        let shape = self.model.shape();
        let (query, key, head) = (shape.query(), shape.key(), shape.head());
        let (width, group) = (query + 2 * key, query / shape.kv_heads);
        let rows = || qkv.chunks_exact(width);
        for row in rows() {
            let key_at = query + key_head * head;
            cache.push(&row[key_at..key_at + head], &row[key_at + key..key_at + key + head]);
        }
        let Some(out) = out else { return };
        let picked: Vec<f32> = rows().flat_map(|row| &row[key_head * group..][..group]).copied().collect();
        let queries = Queries { rows: &picked, head, group: shape.heads / shape.kv_heads, first };
        let (mut found, mut lse) = (Buffer::any(picked.len()), Buffer::any(picked.len() / head));
        attention::forward(queries, cache, &mut found, &mut lse);
        for (found, out) in found.chunks_exact(group).zip(out.chunks_exact_mut(query)) {
            out[key_head * group..][..group].copy_from_slice(found);
        }
    }

    fn leave(&self, pool: &Pool, layer: usize, x: &[f32], mixed: &[f32]) -> Vec<f32> {
        let (shape, block) = (self.model.shape(), &self.blocks[layer]);
        let mut out = vec![0.0; x.len()];
        let inputs = x.chunks(PIECE * shape.dim).zip(mixed.chunks(PIECE * shape.query()));
        let tasks = inputs.zip(out.chunks_mut(PIECE * shape.dim)).collect();
        pool.each(tasks, |((x, mixed), out)| {
            let mut middle = Buffer::any(x.len());
            let mut gate_up = Buffer::any(x.len() / shape.dim * 2 * shape.hidden);
            let left = Left { middle: &mut middle, gate_up: &mut gate_up, out };
            leave(shape, &block.feed_norm, &block.panels, x, mixed, left);
        });
        out
    }
}

/// The row of each chunk's last token.
fn last_rows(chunks: &[(&mut Row, &[u32])], rows: &[f32], width: usize) -> Vec<f32> {
    let mut end = 0;
    let mut last = Vec::with_capacity(chunks.len() * width);
    for (_, chunk) in chunks {
        end += chunk.len();
        last.extend_from_slice(&rows[(end - 1) * width..end * width]);
    }
    last
}
