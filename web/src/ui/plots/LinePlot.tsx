import { scaleLinear, scalePoint } from "d3-scale";
import { line } from "d3-shape";
import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useRef, useState } from "react";
import { exactNumber, number } from "../../base/words/formats";
import css from "./LinePlot.module.css";
import { spread, isStep, nearest, indexAfterKey, tickEvery } from "./points";

export type Line = {
	name: string;
	color: string;
	dash?: string /** One for each point; null where there is none. */;
	values: (number | null)[];
};

type Props = {
	/** What the plot shows, in a sentence. */
	sentence: string;
	/** Names of the points on the axis, which stand at equal distances, and how they are written there: after another, or alone. */
	points: string[];
	tick: (point: string, after?: string) => string;
	/** The width of what is written there. */
	tickWidth?: number;
	lines: Line[];
	/** A point that is marked, such as today. */
	highlighted?: string;
};

const minWidth = 280; // a narrower plot is scrolled
const height = 240;
const margin = { top: 16, right: 96, bottom: 28, left: 48 };

/** LinePlot draws lines over time. Zero is in view. Arrow keys and the pointer walk along the points and say their values. */
export function LinePlot({ sentence, points, tick, tickWidth = 64, lines, highlighted }: Props) {
	const [activeIndex, setActiveIndex] = useState<number | null>(null);
	// As wide as its place: texts keep their size, instead of growing with the plot.
	const [width, setWidth] = useState(720);
	const container = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const element = container.current;
		if (!element) return;
		const resize = () => setWidth(Math.max(minWidth, Math.round(element.clientWidth)));
		resize();
		const observer = new ResizeObserver(resize);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	const max = Math.max(1, ...lines.flatMap((line) => line.values.map((value) => value ?? 0)));
	const x = scalePoint<number>(
		points.map((_, i) => i),
		[margin.left, width - margin.right],
	);
	const y = scaleLinear([0, max], [height - margin.bottom, margin.top]).nice(4);
	const path = line<number | null>()
		.defined((v) => v !== null)
		.x((_, i) => x(i) ?? 0)
		.y((v) => y(v ?? 0));
	// Names of lines that end close to each other are moved apart.
	const nameHeights = spread(
		lines.map((line) => y(line.values.at(-1) ?? 0)),
		15,
	);
	const plotWidth = width - margin.left - margin.right;
	const tickInterval = tickEvery(points.length, plotWidth, tickWidth);
	const key = (event: KeyboardEvent) => {
		if (!isStep(event.key)) return;
		event.preventDefault();
		setActiveIndex((now) => indexAfterKey(event.key, now, points.length));
	};
	const point = (event: PointerEvent<SVGSVGElement>) => {
		const box = event.currentTarget.getBoundingClientRect();
		setActiveIndex(nearest(((event.clientX - box.left) / box.width) * width - margin.left, plotWidth, points.length));
	};
	const summary =
		activeIndex === null
			? ""
			: `${tick(points[activeIndex] ?? "")}: ${lines.flatMap((line) => (line.values[activeIndex] == null ? [] : [`${line.name} ${exactNumber(line.values[activeIndex])}`])).join(", ")}`;
	return (
		<figure className={css.figure}>
			<figcaption>{sentence}</figcaption>
			<div ref={container} className={css.scroll}>
				<svg
					className={css.plot}
					viewBox={`0 0 ${width} ${height}`}
					role="img"
					aria-label={sentence}
					// biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys walk along the points
					tabIndex={0}
					onKeyDown={key}
					onBlur={() => setActiveIndex(null)}
					onPointerMove={point}
					onPointerLeave={() => setActiveIndex(null)}
				>
					{y.ticks(Math.min(4, max)).map((tick) => (
						<g key={tick}>
							<line x1={margin.left} x2={width - margin.right} y1={y(tick)} y2={y(tick)} />
							<text x={margin.left - 8} y={y(tick) + 4} textAnchor="end">
								{number(tick)}
							</text>
						</g>
					))}
					{points.map(
						(point, i) =>
							i % tickInterval === 0 && (
								<text key={point} x={x(i)} y={height - 8} textAnchor="middle">
									{tick(point, points[i - tickInterval])}
								</text>
							),
					)}
					{highlighted !== undefined && (
						<line
							className={css.mark}
							x1={x(points.indexOf(highlighted))}
							x2={x(points.indexOf(highlighted))}
							y1={margin.top}
							y2={height - margin.bottom}
						/>
					)}
					{activeIndex !== null && (
						<line
							className={css.cross}
							x1={x(activeIndex)}
							x2={x(activeIndex)}
							y1={margin.top}
							y2={height - margin.bottom}
						/>
					)}
					{lines.map((line, i) => (
						<g key={line.name}>
							<path
								d={path(line.values) ?? ""}
								fill="none"
								stroke={line.color}
								strokeWidth={2}
								strokeDasharray={line.dash}
								strokeLinejoin="round"
							/>
							<text x={width - margin.right + 8} y={(nameHeights[i] ?? 0) + 4} style={{ fill: line.color }}>
								{line.name}
							</text>
							{points.length === 1 && <circle cx={x(0)} cy={y(line.values[0] ?? 0)} r={3} fill={line.color} />}
							{activeIndex !== null && line.values[activeIndex] !== null && (
								<circle cx={x(activeIndex)} cy={y(line.values[activeIndex] ?? 0)} r={4} fill={line.color} />
							)}
						</g>
					))}
				</svg>
			</div>
			<p role="status" className={css.said}>
				{summary || "\u00a0"}
			</p>
		</figure>
	);
}
