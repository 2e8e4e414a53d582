use tribunal_transformer::{
    Allowed, Constraint, Draw, Drawn, Error, Free, Mask, Model, Packed, Row, Sampler, Sampling,
};

use crate::fixture::{model, residues};

/// Cycles through all tokens, a mask, and forced tokens; ends after so many tokens.
struct Cycle {
    heard: Vec<u32>,
    most: usize,
}

impl Cycle {
    fn of(most: usize) -> Cycle {
        Cycle { heard: Vec::new(), most }
    }
}

impl Constraint for Cycle {
    fn allowed(&mut self) -> Result<Allowed, String> {
        Ok(match self.heard.len() % 7 {
            0 | 1 => Allowed::All,
            2..=4 => Allowed::Only(residues(3, self.heard.len() as u32 % 3)),
            _ => Allowed::Forced(vec![7, 11]),
        })
    }

    fn accept(&mut self, token: u32) -> Result<(), String> {
        self.heard.push(token);
        Ok(())
    }

    fn ended(&self) -> bool {
        self.heard.len() >= self.most
    }
}

fn prompt(length: usize, salt: usize) -> Vec<u32> {
    (0..length).map(|i| ((i * 17 + salt * 5) % 61) as u32).collect()
}

fn draw_one(sampler: &Sampler, row: &mut Row, read: &[u32], most: usize) -> Drawn {
    let mut constraint = Cycle::of(most);
    let mut draws = [Draw { row, read, constraint: &mut constraint, most: 100 }];
    sampler.draw(&mut draws, &Sampling::default()).unwrap().remove(0)
}

/// What the trainer finds for the drawn tokens of an episode: turns of (read, drawn).
fn trainer(model: &Model, turns: &[(Vec<u32>, Drawn)]) -> Vec<f32> {
    let (mut tokens, mut scored) = (Vec::new(), Vec::new());
    for (read, drawn) in turns {
        tokens.extend_from_slice(read);
        for (i, token) in drawn.tokens.iter().enumerate() {
            if !drawn.forced[i] {
                scored.push((tokens.len(), drawn.masks[i].clone()));
            }
            tokens.push(*token);
        }
    }
    let mut batch = Packed::new();
    batch.push(&prompt(50, 1), [(3, None)]).unwrap();
    batch.push(&tokens, scored).unwrap();
    model.measure(&batch).unwrap().log_probs[1..].to_vec()
}

fn chosen(drawn: &Drawn) -> impl Iterator<Item = f32> {
    drawn.logprobs.iter().zip(&drawn.forced).filter(|(_, forced)| !**forced).map(|(log_prob, _)| *log_prob)
}

#[test]
fn sampler_and_trainer_find_the_same_bits() {
    let model = model(1);
    let sampler = Sampler::new(&model).unwrap();
    let mut row = sampler.row(5);
    let mut turns = Vec::new();
    for (turn, (read, most)) in [(70, 40), (13, 9), (1, 30)].into_iter().enumerate() {
        let read = prompt(read, turn);
        let drawn = draw_one(&sampler, &mut row, &read, most);
        assert!(drawn.ended && drawn.tokens.len() >= most);
        turns.push((read, drawn));
    }
    let recorded: Vec<f32> = turns.iter().flat_map(|(_, drawn)| chosen(drawn)).collect();
    assert!(recorded.len() > 40 && recorded.iter().any(|log_prob| *log_prob < -1.0));
    assert_eq!(trainer(&model, &turns), recorded);

    // The failing twin: without the masks the trainer computes something else.
    for (_, drawn) in &mut turns {
        drawn.masks.iter_mut().for_each(|mask| *mask = None);
    }
    assert_ne!(trainer(&model, &turns), recorded);
}

#[test]
fn a_row_does_not_feel_its_neighbours() {
    let mut model = model(2);
    let alone: Vec<Drawn> = {
        model.set_threads(1).unwrap();
        let sampler = Sampler::new(&model).unwrap();
        (0..9)
            .map(|i| draw_one(&sampler, &mut sampler.row(i), &prompt(1 + 11 * i as usize, 3), 5 + 4 * i as usize))
            .collect()
    };
    for threads in [1, 2, 5] {
        model.set_threads(threads).unwrap();
        let sampler = Sampler::new(&model).unwrap();
        let mut rows: Vec<Row> = (0..9).map(|i| sampler.row(i)).collect();
        let prompts: Vec<Vec<u32>> = (0..9).map(|i| prompt(1 + 11 * i, 3)).collect();
        let mut constraints: Vec<Cycle> = (0..9).map(|i| Cycle::of(5 + 4 * i)).collect();
        let mut draws: Vec<Draw> = (rows.iter_mut().zip(&prompts).zip(&mut constraints))
            .map(|((row, read), constraint)| Draw { row, read, constraint, most: 100 })
            .collect();
        assert_eq!(sampler.draw(&mut draws, &Sampling::default()).unwrap(), alone, "{threads} threads");
    }
}

#[test]
fn a_prompt_is_read_once_for_all_attempts() {
    let model = model(3);
    let sampler = Sampler::new(&model).unwrap();
    let read = prompt(90, 4);
    let mut first = sampler.row(0);
    sampler.read(&mut first, &read).unwrap();
    assert_eq!(first.len(), 90);
    let mut forks: Vec<Row> = (10..14).map(|seed| first.fork(seed)).collect();
    let forked: Vec<Drawn> = forks.iter_mut().map(|fork| draw_one(&sampler, fork, &[], 30)).collect();
    let whole: Vec<Drawn> = (10..14).map(|seed| draw_one(&sampler, &mut sampler.row(seed), &read, 30)).collect();
    assert_eq!(forked, whole);
    assert_ne!(forked[0].tokens, forked[1].tokens, "attempts have random numbers of their own");
    // Pieces of any length, in any number of reads.
    let mut pieces = sampler.row(10);
    for piece in read.chunks(7) {
        sampler.read(&mut pieces, piece).unwrap();
    }
    assert_eq!(draw_one(&sampler, &mut pieces, &[], 30), whole[0]);
}

#[test]
fn masks_hold_and_their_cost_is_counted() {
    let model = model(4);
    let sampler = Sampler::new(&model).unwrap();
    let mut row = sampler.row(1);
    sampler.read(&mut row, &prompt(20, 2)).unwrap();
    let every = sampler.next(&mut row).unwrap();
    let total: f64 = every.iter().map(|log_prob| f64::from(*log_prob).exp()).sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
    let drawn = {
        let mut constraint = Fixed(Allowed::Only(residues(4, 1)));
        let mut draws = [Draw { row: &mut row, read: &[], constraint: &mut constraint, most: 1 }];
        sampler.draw(&mut draws, &Sampling::default()).unwrap().remove(0)
    };
    let kept: f64 =
        every.iter().enumerate().filter(|(token, _)| token % 4 == 1).map(|(_, l)| f64::from(*l).exp()).sum();
    assert_eq!(drawn.tokens[0] % 4, 1);
    assert!((f64::from(drawn.removed[0]) - (1.0 - kept)).abs() < 1e-6, "{} {}", drawn.removed[0], 1.0 - kept);
    let wanted = f64::from(every[drawn.tokens[0] as usize]) - kept.ln();
    assert!((f64::from(drawn.logprobs[0]) - wanted).abs() < 1e-5);
}

/// Always the same answer.
struct Fixed(Allowed);

impl Constraint for Fixed {
    fn allowed(&mut self) -> Result<Allowed, String> {
        Ok(self.0.clone())
    }

    fn accept(&mut self, _: u32) -> Result<(), String> {
        Ok(())
    }

    fn ended(&self) -> bool {
        false
    }
}

#[test]
fn tokens_come_as_often_as_their_probability_says() {
    let model = model(5);
    let sampler = Sampler::new(&model).unwrap();
    let mut first = sampler.row(0);
    sampler.read(&mut first, &prompt(5, 1)).unwrap();
    let log_probs = sampler.next(&mut first).unwrap();
    const COUNT: usize = 4000;
    // Temperature 2, the eight likeliest, of these the first whose share reaches 0.7: by hand.
    let warped = |sampling: &Sampling| {
        let mut order: Vec<usize> = (0..61).collect();
        order.sort_by(|a, b| log_probs[*b].total_cmp(&log_probs[*a]));
        order.truncate(sampling.top_k.unwrap_or(61));
        let weight = |token: usize| (f64::from(log_probs[token]) / f64::from(sampling.temperature)).exp();
        let total: f64 = order.iter().map(|token| weight(*token)).sum();
        let mut reached = 0.0;
        let mut keep = 0;
        while keep < order.len() && reached < f64::from(sampling.top_p.unwrap_or(1.1)) * total {
            reached += weight(order[keep]);
            keep += 1;
        }
        let mut shares = vec![0.0; 61];
        order[..keep].iter().for_each(|token| shares[*token] = weight(*token) / reached);
        shares
    };
    for sampling in [
        Sampling::default(),
        Sampling { temperature: 2.0, top_p: Some(0.7), top_k: Some(8) },
        Sampling { temperature: 0.5, top_p: None, top_k: None },
    ] {
        let mut rows: Vec<Row> = (0..COUNT as u64).map(|seed| first.fork(seed)).collect();
        let mut free: Vec<Free> = vec![Free::until(None); COUNT];
        let mut draws: Vec<Draw> = (rows.iter_mut().zip(&mut free))
            .map(|(row, constraint)| Draw { row, read: &[], constraint, most: 1 })
            .collect();
        let drawn = sampler.draw(&mut draws, &sampling).unwrap();
        let shares = warped(&sampling);
        let mut counts = vec![0.0; 61];
        for drawn in &drawn {
            let token = drawn.tokens[0] as usize;
            counts[token] += 1.0;
            assert!((f64::from(drawn.drawn_logprobs[0]).exp() - shares[token]).abs() < 1e-5, "{sampling:?}");
            assert!((drawn.logprobs[0] - log_probs[token]).abs() < 1e-5);
        }
        for (count, share) in counts.iter().zip(&shares) {
            // Five standard deviations of a count; a token without share never comes.
            let wide = 5.0 * (COUNT as f64 * share * (1.0 - share)).sqrt();
            assert!((count - COUNT as f64 * share).abs() <= wide, "{count} of {COUNT} at {share}");
        }
    }
    let mut greedy = Free::until(None);
    let mut row = first.fork(1);
    let mut draws = [Draw { row: &mut row, read: &[], constraint: &mut greedy, most: 1 }];
    let drawn = sampler.draw(&mut draws, &Sampling { temperature: 0.0, top_p: None, top_k: None }).unwrap();
    let best = (0..61).max_by(|a, b| log_probs[*a].total_cmp(&log_probs[*b])).unwrap();
    assert_eq!(drawn[0].tokens, [best as u32]);
}

#[test]
fn rows_stop_where_they_must() {
    let model = model(6);
    let sampler = Sampler::new(&model).unwrap();
    let run = |allowed: Allowed, read: usize, most: usize| {
        let (mut row, mut constraint, read) = (sampler.row(1), Fixed(allowed), prompt(read, 0));
        let mut draws = [Draw { row: &mut row, read: &read, constraint: &mut constraint, most }];
        sampler.draw(&mut draws, &Sampling::default()).map(|drawn| (drawn[0].tokens.len(), drawn[0].ended))
    };
    assert_eq!(run(Allowed::All, 10, 6).unwrap(), (6, false));
    assert_eq!(run(Allowed::Forced(vec![1, 2, 3, 4]), 10, 6).unwrap(), (6, false));
    // The context holds 200 tokens: the last one drawn is never read.
    assert_eq!(run(Allowed::All, 190, 100).unwrap(), (11, false));
    assert!(matches!(run(Allowed::All, 201, 1), Err(Error::Context { tokens: 201, context: 200 })));
    assert!(matches!(run(Allowed::All, 0, 1), Err(Error::Batch(problem)) if problem.contains("read nothing")));
    let small = Mask::of(&[1], 20).unwrap();
    assert!(matches!(run(Allowed::Only(small), 5, 1), Err(Error::Constraint(problem)) if problem.contains("row 0")));
    assert!(run(Allowed::Forced(vec![61]), 5, 1).is_err() && run(Allowed::Forced(vec![]), 5, 1).is_err());

    let mut ended = Free::until(Some(0));
    let mut row = sampler.row(9);
    let read = prompt(4, 0);
    let mut draws = [Draw { row: &mut row, read: &read, constraint: &mut ended, most: 190 }];
    let drawn = sampler.draw(&mut draws, &Sampling::default()).unwrap().remove(0);
    assert_eq!(drawn.ended, drawn.tokens.last() == Some(&0));
    assert!(drawn.tokens[..drawn.tokens.len() - 1].iter().all(|token| *token != 0));
}
