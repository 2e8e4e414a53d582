use super::*;

const AXES: Axes<'_> = Axes { title: "t", x: "k", y: "", share: true, marks: &[] };
const SIZE: Size = Size { width: 158.0, height: 154.0, names: 0.0 };

fn line(points: &[(f64, f64)]) -> Line {
    Line { name: "a".to_owned(), class: "line", points: points.to_vec() }
}

#[test]
fn points_lie_where_the_axes_say() {
    // The plane is 100 units wide (48 to 148) and high (114 to 14).
    let chart = ChartView::of(AXES, &[line(&[(1.0, 0.0), (2.0, 0.5), (3.0, 1.0)])], SIZE).unwrap();
    assert_eq!(chart.lines[0].path, "M48 114L98 64L148 14");
    assert_eq!(chart.label, "t. a: 0% at k 1, 100% at k 3");
    let texts: Vec<_> = chart.y_ticks.iter().map(|tick| (tick.text.as_str(), tick.at.as_str())).collect();
    assert_eq!((texts.first(), texts.last()), (Some(&("0%", "114")), Some(&("100%", "14"))));
    assert!(ChartView::of(AXES, &[line(&[])], SIZE).is_none());
    // A mark stands where it belongs, and not where a chart begins.
    let marks = [(1.0, "sft".to_owned()), (2.5, "grpo".to_owned())];
    let axes = Axes { marks: &marks, ..AXES };
    let chart = ChartView::of(axes, &[line(&[(1.0, 0.0), (3.0, 1.0)])], SIZE).unwrap();
    assert_eq!(
        chart.marks.iter().map(|mark| (mark.text.as_str(), mark.at.as_str())).collect::<Vec<_>>(),
        [("grpo", "123")]
    );
}

#[test]
fn ticks_are_round_and_hold_all() {
    let close = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{found:?}"));
    };
    close(ticks(0.0, 1.0, 5.0), &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    close(ticks(-0.3, 2.2, 3.0), &[-1.0, 0.0, 1.0, 2.0, 3.0]);
    close(ticks(3.0, 47.0, 5.0), &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
    for (value, text) in [(0.0, "0"), (-0.5, "−0.5"), (1234.0, "1234"), (0.00002, "2e−5"), (0.25, "0.25"), (3e7, "3e7")]
    {
        assert_eq!(tick_text(value), text);
    }
}

#[test]
fn a_long_line_is_drawn_as_means_and_a_flat_one_has_room() {
    let long: Vec<_> = (0..1_000_u32).map(|i| (f64::from(i), f64::from(i % 2))).collect();
    let found = thinned(&line(&long));
    assert_eq!(found.points.len(), 200);
    assert_eq!(found.points[0], (2.0, 0.4)); // the mean of 0, 1, 2, 3, 4 and of 0, 1, 0, 1, 0
    assert_eq!(ends([3.0, 3.0].into_iter()), Some((1.5, 4.5)));
}

#[test]
fn names_of_lines_that_end_together_stand_apart() {
    let size = Size { names: 60.0, width: 218.0, ..SIZE };
    let lines = [line(&[(1.0, 0.5), (2.0, 1.0)]), line(&[(1.0, 0.4), (2.0, 0.99)]), line(&[(1.0, 0.4), (2.0, 0.98)])];
    let chart = ChartView::of(AXES, &lines, size).unwrap();
    let ys: Vec<f64> = chart.lines.iter().map(|line| line.name_y.parse().unwrap()).collect();
    assert!(ys[1] - ys[0] >= APART - 0.1 && ys[2] - ys[1] >= APART - 0.1, "{ys:?}");
}
