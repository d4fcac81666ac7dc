import { Maximize, Minus, Plus } from "lucide-react";
import {
	type KeyboardEvent,
	type PointerEvent,
	useCallback,
	useEffect,
	useLayoutEffect,
	useMemo,
	useRef,
	useState,
} from "react";
import { IconButton } from "../../../ui/Button";
import { catalogue } from "../../../base/words/catalogue";
import { percent } from "../../../base/words/formats";
import type { View } from "../flowView";
import { stepOf } from "../graph";
import { AddButton, Numbers, StartButton, StepButton, StepMenuButton } from "../Parts";
import { labelOf } from "../steps";
import css from "./Canvas.module.css";
import { arranged, type Layout, nodeWidth, startHeight } from "./layout";

const words = catalogue("sequences.canvas.canvas", {
	larger: "Zoom in",
	smaller: "Zoom out",
	fit: "Show everything",
	canvas: "Canvas",
	zoom: "Zoom {share}",
	goals: "From anywhere",
	end: "End",
});

const steps = [0.3, 0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.5];
const bare = 64;
const counted = 92;

/** Canvas draws a graph from top to bottom: steps as buttons, the ways between them as lines. */
export default function Canvas({ view: v, clip }: { view: View; clip: boolean }) {
	const numbers = v.numbers !== null && [...v.numbers.values()].some((n) => n.entered > 0);
	const height = numbers ? counted : bare;
	const layout = useMemo(() => arranged(v.graph, height), [v.graph, height]);
	const [zoom, setZoom] = useState(1);
	const box = useRef<HTMLElement>(null);
	const [seen, setSeen] = useState({ x: 0, y: 0, width: 0, height: 0 });
	const look = useCallback(() => {
		const b = box.current;
		if (b) setSeen({ x: b.scrollLeft, y: b.scrollTop, width: b.clientWidth, height: b.clientHeight });
	}, []);
	// The start is in the middle at first.
	const startX = useRef(layout.start.x);
	useLayoutEffect(() => {
		const b = box.current;
		if (b) b.scrollLeft = startX.current - b.clientWidth / 2;
		look();
		if (!b) return;
		const watch = new ResizeObserver(look);
		watch.observe(b);
		return () => watch.disconnect();
	}, [look]);
	/** Zooms, keeping what is in the middle there. */
	const zoomTo = (to: number) => {
		const b = box.current;
		const next = Math.max(steps[0] as number, Math.min(steps.at(-1) as number, to));
		if (!b || next === zoom) return;
		const x = (b.scrollLeft + b.clientWidth / 2) / zoom;
		const y = (b.scrollTop + b.clientHeight / 2) / zoom;
		setZoom(next);
		requestAnimationFrame(() => {
			b.scrollLeft = x * next - b.clientWidth / 2;
			b.scrollTop = y * next - b.clientHeight / 2;
			look();
		});
	};
	const larger = () => zoomTo(steps.find((s) => s > zoom + 0.01) ?? zoom);
	const smaller = () => zoomTo(steps.findLast((s) => s < zoom - 0.01) ?? zoom);
	const fit = () => {
		const b = box.current;
		if (!b) return;
		setZoom(Math.max(steps[0] as number, Math.min(1, b.clientWidth / layout.width, b.clientHeight / layout.height)));
		requestAnimationFrame(() => {
			b.scrollLeft = (b.scrollWidth - b.clientWidth) / 2;
			b.scrollTop = 0;
			look();
		});
	};
	const wheel = useRef(zoomTo);
	wheel.current = zoomTo;
	const now = useRef(zoom);
	now.current = zoom;
	useEffect(() => {
		const b = box.current;
		if (!b) return;
		const turn = (e: WheelEvent) => {
			if (!e.ctrlKey && !e.metaKey) return;
			e.preventDefault();
			wheel.current(now.current * (e.deltaY > 0 ? 0.9 : 1.1));
		};
		b.addEventListener("wheel", turn, { passive: false });
		return () => b.removeEventListener("wheel", turn);
	}, []);
	// The background is dragged to move.
	const drag = useRef<{ x: number; y: number } | null>(null);
	const down = (e: PointerEvent) => {
		if (e.pointerType === "touch" || e.button !== 0 || (e.target as HTMLElement).closest("button")) return;
		drag.current = { x: e.clientX, y: e.clientY };
		e.currentTarget.setPointerCapture(e.pointerId);
	};
	const move = (e: PointerEvent) => {
		const b = box.current;
		if (!drag.current || !b) return;
		b.scrollLeft -= e.clientX - drag.current.x;
		b.scrollTop -= e.clientY - drag.current.y;
		drag.current = { x: e.clientX, y: e.clientY };
	};
	const key = (e: KeyboardEvent) => {
		if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input, [role=menu], [role=dialog]"))
			return;
		if (e.key === "+") larger();
		else if (e.key === "-") smaller();
		else if (e.key === "0") fit();
		else return;
		e.preventDefault();
	};
	const byId = new Map(layout.nodes.map((n) => [n.id, n]));
	const around = { inlineSize: Math.max(layout.width * zoom, 1), blockSize: layout.height * zoom };
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: keys of the steps within
		<div className={css.canvas} onKeyDown={key}>
			<section
				ref={box}
				aria-label={words.canvas}
				className={css.scroll}
				onScroll={look}
				onPointerDown={down}
				onPointerMove={move}
				onPointerUp={() => {
					drag.current = null;
				}}
				onPointerCancel={() => {
					drag.current = null;
				}}
			>
				<div className={css.sheet} style={around}>
					<div
						className={css.inner}
						style={{ inlineSize: layout.width, blockSize: layout.height, transform: `scale(${zoom})` }}
					>
						<svg className={css.lines} width={layout.width} height={layout.height} aria-hidden>
							<defs>
								<marker
									id="sequence-arrow"
									viewBox="0 0 8 8"
									refX="7"
									refY="4"
									markerWidth="7"
									markerHeight="7"
									orient="auto"
								>
									<path d="M0 0L8 4L0 8z" />
								</marker>
							</defs>
							{layout.lines.map((l) => (
								<path
									key={`${l.place.from} ${l.place.label}`}
									className={css.line}
									data-kind={l.kind}
									d={l.path}
									markerEnd={l.kind === "end" ? undefined : "url(#sequence-arrow)"}
								/>
							))}
							{layout.lines.map(
								(l) =>
									l.end && (
										<circle
											key={`${l.place.from} ${l.place.label}`}
											className={css.stop}
											cx={l.end.x}
											cy={l.end.y}
											r={4}
										/>
									),
							)}
						</svg>
						<div
							className={css.at}
							style={{
								insetInlineStart: layout.start.x - nodeWidth / 2,
								insetBlockStart: layout.start.y,
								inlineSize: nodeWidth,
								blockSize: startHeight,
							}}
						>
							<StartButton view={v} />
						</div>
						{layout.goals && (
							<p
								className={css.goals}
								style={{ insetInlineStart: layout.goals.x, insetBlockStart: layout.goals.y + startHeight }}
							>
								{words.goals}
							</p>
						)}
						{layout.lines.map((l) => {
							const from = stepOf(v.graph, l.place.from);
							return (
								l.label &&
								from && (
									<span
										key={`label ${l.place.from} ${l.place.label}`}
										className={css.label}
										style={{ insetInlineStart: l.label.x, insetBlockStart: l.label.y }}
									>
										{labelOf(from, l.place.label)}
									</span>
								)
							);
						})}
						{v.steps.map((id) => {
							const n = byId.get(id);
							const s = stepOf(v.graph, id);
							if (!n || !s) return null;
							return (
								<div
									key={id}
									className={css.at}
									style={{
										insetInlineStart: n.x - nodeWidth / 2,
										insetBlockStart: n.y,
										inlineSize: nodeWidth,
										blockSize: height,
									}}
								>
									<div className={css.node}>
										<StepButton view={v} step={s} />
									</div>
									{numbers && <Numbers view={v} step={s} />}
									{v.current === id && (
										<div className={css.menu}>
											<StepMenuButton view={v} step={s} clip={clip} />
										</div>
									)}
								</div>
							);
						})}
						{layout.lines.map((l) => (
							<div
								key={`add ${l.place.from} ${l.place.label}`}
								className={css.plus}
								style={{ insetInlineStart: l.add.x - 12, insetBlockStart: l.add.y - 12 }}
							>
								<AddButton view={v} place={l.place} tab={v.graph.steps.length === 0} />
							</div>
						))}
					</div>
				</div>
			</section>
			<div className={css.tools}>
				<IconButton small label={words.smaller} icon={<Minus aria-hidden />} onClick={smaller} />
				<span className={css.zoom} role="status" aria-label={words.zoom({ share: percent(zoom, 0) })}>
					{percent(zoom, 0)}
				</span>
				<IconButton small label={words.larger} icon={<Plus aria-hidden />} onClick={larger} />
				<IconButton small label={words.fit} icon={<Maximize aria-hidden />} onClick={fit} />
			</div>
			{seen.width >= 900 && (layout.width * zoom > seen.width || layout.height * zoom > seen.height) && (
				<Minimap
					layout={layout}
					height={height}
					seen={{ x: seen.x / zoom, y: seen.y / zoom, width: seen.width / zoom, height: seen.height / zoom }}
					onMove={(x, y) => {
						const b = box.current;
						if (!b) return;
						b.scrollLeft = x * zoom - b.clientWidth / 2;
						b.scrollTop = y * zoom - b.clientHeight / 2;
					}}
				/>
			)}
		</div>
	);
}

type Rect = { x: number; y: number; width: number; height: number };

/** Minimap is the whole graph in small, with what is on the screen. Pointers move it; keys walk the steps instead. */
function Minimap({
	layout,
	height,
	seen,
	onMove,
}: {
	layout: Layout;
	height: number;
	seen: Rect;
	onMove: (x: number, y: number) => void;
}) {
	const scale = Math.min(180 / layout.width, 140 / layout.height);
	const to = (e: PointerEvent<SVGSVGElement>) => {
		if (e.buttons !== 1) return;
		const r = e.currentTarget.getBoundingClientRect();
		onMove((e.clientX - r.left) / scale, (e.clientY - r.top) / scale);
	};
	return (
		<svg
			className={css.minimap}
			width={layout.width * scale}
			height={layout.height * scale}
			viewBox={`0 0 ${layout.width} ${layout.height}`}
			aria-hidden
			onPointerDown={to}
			onPointerMove={to}
		>
			{layout.lines.map((l) => (
				<path key={`${l.place.from} ${l.place.label}`} d={l.path} />
			))}
			{layout.nodes.map((n) => (
				<rect key={n.id} x={n.x - nodeWidth / 2} y={n.y} width={nodeWidth} height={height} rx={10} />
			))}
			<rect className={css.seen} x={seen.x} y={seen.y} width={seen.width} height={seen.height} />
		</svg>
	);
}
