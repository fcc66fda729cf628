//! Bars by program, in the form of the P3 paper's figures, and lines.

use anyhow::{Context, Result};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// One bar of every program.
pub(crate) struct Series {
    pub name: String,
    /// By program, the average last.
    pub values: Vec<f64>,
}

const COLORS: [RGBColor; 6] = [
    RGBColor(68, 119, 170),
    RGBColor(238, 102, 119),
    RGBColor(34, 136, 51),
    RGBColor(204, 187, 68),
    RGBColor(102, 204, 238),
    RGBColor(170, 51, 119),
];

/// Draws percentages by program.
pub(crate) fn bars(file: &Path, title: &str, programs: &[String], series: &[Series]) -> Result<()> {
    let values = || series.iter().flat_map(|s| s.values.iter().copied());
    let top = values().fold(10.0, f64::max) * 1.45; // room for the legend
    let bottom = values().fold(0.0, f64::min).max(-20.0) * 1.08;
    let area = SVGBackend::new(file, (1000, 380)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(64)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..programs.len() as f64, bottom..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_label_formatter(&|v| format!("{v:.0} %"))
        .light_line_style(WHITE)
        .label_style(("sans-serif", 13))
        .draw()?;
    let width = 0.8 / series.len() as f64;
    for (i, s) in series.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let bar = |(p, &value): (usize, &f64)| {
            let left = p as f64 + 0.1 + i as f64 * width;
            Rectangle::new(
                [(left, 0.0), (left + width * 0.92, value.clamp(bottom, top))],
                color.filled(),
            )
        };
        chart
            .draw_series(s.values.iter().enumerate().map(bar))?
            .label(&s.name)
            .legend(swatch(color));
    }
    legend(&mut chart, SeriesLabelPosition::UpperLeft)?;
    let font = ("sans-serif", 13)
        .into_font()
        .transform(FontTransform::None);
    let style = TextStyle::from(font).pos(Pos::new(HPos::Center, VPos::Top));
    for (p, name) in programs.iter().enumerate() {
        let at = chart.backend_coord(&(p as f64 + 0.5, bottom));
        // Neighbours' names take turns, so that long ones fit.
        let down = 8 + 18 * (p as i32 % 2);
        area.draw_text(name, &style, (at.0, at.1 + down))?;
    }
    area.present().context("the plot is written")?;
    Ok(())
}

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A line by its name, and its points.
pub(crate) type Line = (String, Vec<(f64, f64)>);

/// Draws lines, the axes named; the second one begins with 1 at the top, as ranks do.
pub(crate) fn lines(file: &Path, title: &str, axes: [&str; 2], all: &[Line]) -> Result<()> {
    let points = || all.iter().flat_map(|(_, points)| points.iter().copied());
    let right = points().fold(1.0, |most, (x, _)| f64::max(most, x));
    let bottom = points().fold(10.0, |most, (_, y)| f64::max(most, y));
    let area = SVGBackend::new(file, (1000, 380)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..right * 1.15, bottom + 0.5..0.5)?;
    chart
        .configure_mesh()
        .x_desc(axes[0])
        .y_desc(axes[1])
        .y_label_formatter(&|v| format!("{v:.0}"))
        .light_line_style(WHITE)
        .label_style(("sans-serif", 13))
        .draw()?;
    for (i, (name, points)) in all.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        chart
            .draw_series(LineSeries::new(
                points.iter().copied(),
                color.stroke_width(2),
            ))?
            .label(name)
            .legend(swatch(color));
    }
    legend(&mut chart, SeriesLabelPosition::MiddleRight)?;
    area.present().context("the plot is written")?;
    Ok(())
}

/// What a legend shows of a colour.
fn swatch(color: RGBColor) -> impl Fn((i32, i32)) -> Rectangle<(i32, i32)> {
    move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled())
}

/// Draws the legend of all series.
fn legend<'a>(chart: &mut Chart<'a>, position: SeriesLabelPosition) -> Result<()> {
    let mut labels = chart.configure_series_labels();
    let labels = labels.position(position).label_font(("sans-serif", 13));
    labels.background_style(WHITE.mix(0.8)).draw()?;
    Ok(())
}
