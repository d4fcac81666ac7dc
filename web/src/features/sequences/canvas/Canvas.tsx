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
import { AddButton, Numbers, StartButton, StepButton, StepMenuButton, Taken } from "../Parts";
import { edgeKey } from "../stepReasons";
import { labelOf } from "../steps";
import css from "./Canvas.module.css";
import { layoutOf, type Layout, nodeWidth, startHeight } from "./layout";

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
const stepHeight = 64;
const stepHeightWithNumbers = 92;

/** Canvas draws a graph from top to bottom: steps as buttons, the edges between them as lines. */
export default function Canvas({ view, canPaste }: { view: View; canPaste: boolean }) {
	const numbers = view.numbers !== null && [...view.numbers.values()].some((number) => number.entered > 0);
	const height = numbers ? stepHeightWithNumbers : stepHeight;
	const layout = useMemo(() => layoutOf(view.graph, height), [view.graph, height]);
	const [zoom, setZoom] = useState(1);
	const box = useRef<HTMLElement>(null);
	const [viewport, setViewport] = useState({ x: 0, y: 0, width: 0, height: 0 });
	const updateView = useCallback(() => {
		const element = box.current;
		if (element)
			setViewport({
				x: element.scrollLeft,
				y: element.scrollTop,
				width: element.clientWidth,
				height: element.clientHeight,
			});
	}, []);
	// The start is in the middle at first.
	const startX = useRef(layout.start.x);
	useLayoutEffect(() => {
		const element = box.current;
		if (element) element.scrollLeft = startX.current - element.clientWidth / 2;
		updateView();
		if (!element) return;
		const watch = new ResizeObserver(updateView);
		watch.observe(element);
		return () => watch.disconnect();
	}, [updateView]);
	/** Zooms, keeping what is in the middle there. */
	const zoomTo = (to: number) => {
		const element = box.current;
		const next = Math.max(steps[0] as number, Math.min(steps.at(-1) as number, to));
		if (!element || next === zoom) return;
		const x = (element.scrollLeft + element.clientWidth / 2) / zoom;
		const y = (element.scrollTop + element.clientHeight / 2) / zoom;
		setZoom(next);
		requestAnimationFrame(() => {
			element.scrollLeft = x * next - element.clientWidth / 2;
			element.scrollTop = y * next - element.clientHeight / 2;
			updateView();
		});
	};
	const zoomIn = () => zoomTo(steps.find((step) => step > zoom + 0.01) ?? zoom);
	const zoomOut = () => zoomTo(steps.findLast((step) => step < zoom - 0.01) ?? zoom);
	const zoomToFit = () => {
		const element = box.current;
		if (!element) return;
		setZoom(
			Math.max(
				steps[0] as number,
				Math.min(1, element.clientWidth / layout.width, element.clientHeight / layout.height),
			),
		);
		requestAnimationFrame(() => {
			element.scrollLeft = (element.scrollWidth - element.clientWidth) / 2;
			element.scrollTop = 0;
			updateView();
		});
	};
	const wheel = useRef(zoomTo);
	wheel.current = zoomTo;
	const now = useRef(zoom);
	now.current = zoom;
	useEffect(() => {
		const element = box.current;
		if (!element) return;
		const onWheel = (event: WheelEvent) => {
			if (!event.ctrlKey && !event.metaKey) return;
			event.preventDefault();
			wheel.current(now.current * (event.deltaY > 0 ? 0.9 : 1.1));
		};
		element.addEventListener("wheel", onWheel, { passive: false });
		return () => element.removeEventListener("wheel", onWheel);
	}, []);
	// The background is dragged to move.
	const drag = useRef<{ x: number; y: number } | null>(null);
	const onPointerDown = (event: PointerEvent) => {
		if (event.pointerType === "touch" || event.button !== 0 || (event.target as HTMLElement).closest("button")) return;
		drag.current = { x: event.clientX, y: event.clientY };
		event.currentTarget.setPointerCapture(event.pointerId);
	};
	const move = (event: PointerEvent) => {
		const element = box.current;
		if (!drag.current || !element) return;
		element.scrollLeft -= event.clientX - drag.current.x;
		element.scrollTop -= event.clientY - drag.current.y;
		drag.current = { x: event.clientX, y: event.clientY };
	};
	const key = (event: KeyboardEvent) => {
		if (
			event.ctrlKey ||
			event.metaKey ||
			event.altKey ||
			(event.target as HTMLElement).closest("input, [role=menu], [role=dialog]")
		)
			return;
		if (event.key === "+") zoomIn();
		else if (event.key === "-") zoomOut();
		else if (event.key === "0") zoomToFit();
		else return;
		event.preventDefault();
	};
	const byId = new Map(layout.nodes.map((node) => [node.id, node]));
	const contentSize = { inlineSize: Math.max(layout.width * zoom, 1), blockSize: layout.height * zoom };
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: keys of the steps within
		<div className={css.canvas} onKeyDown={key}>
			<section
				ref={box}
				aria-label={words.canvas}
				className={css.scroll}
				onScroll={updateView}
				onPointerDown={onPointerDown}
				onPointerMove={move}
				onPointerUp={() => {
					drag.current = null;
				}}
				onPointerCancel={() => {
					drag.current = null;
				}}
			>
				<div className={css.sheet} style={contentSize}>
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
							{layout.lines.map((line) => (
								<path
									key={`${line.place.from} ${line.place.label}`}
									className={css.line}
									data-kind={line.kind}
									data-passed={view.passed?.edges.has(edgeKey(line.place.from, line.place.label)) || undefined}
									d={line.path}
									markerEnd={line.kind === "end" ? undefined : "url(#sequence-arrow)"}
								/>
							))}
							{layout.lines.map(
								(line) =>
									line.end && (
										<circle
											key={`${line.place.from} ${line.place.label}`}
											className={css.stop}
											cx={line.end.x}
											cy={line.end.y}
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
							<StartButton view={view} />
						</div>
						{layout.goals && (
							<p
								className={css.goals}
								style={{ insetInlineStart: layout.goals.x, insetBlockStart: layout.goals.y + startHeight }}
							>
								{words.goals}
							</p>
						)}
						{layout.lines.map((line) => {
							const from = stepOf(view.graph, line.place.from);
							return (
								line.label &&
								from && (
									<span
										key={`label ${line.place.from} ${line.place.label}`}
										className={css.label}
										style={{ insetInlineStart: line.label.x, insetBlockStart: line.label.y }}
									>
										{labelOf(from, line.place.label)}
									</span>
								)
							);
						})}
						{view.steps.map((id) => {
							const node = byId.get(id);
							const step = stepOf(view.graph, id);
							if (!node || !step) return null;
							return (
								<div
									key={id}
									className={css.at}
									style={{
										insetInlineStart: node.x - nodeWidth / 2,
										insetBlockStart: node.y,
										inlineSize: nodeWidth,
										blockSize: height,
									}}
								>
									<div className={css.node}>
										<StepButton view={view} step={step} />
									</div>
									{numbers && <Numbers view={view} step={step} />}
									{view.current === id && (
										<div className={css.menu}>
											<StepMenuButton view={view} step={step} canPaste={canPaste} />
										</div>
									)}
								</div>
							);
						})}
						{layout.lines.map((line) => (
							<div
								key={`add ${line.place.from} ${line.place.label}`}
								className={css.plus}
								style={{ insetInlineStart: line.add.x - 12, insetBlockStart: line.add.y - 12 }}
							>
								<AddButton view={view} place={line.place} tab={view.graph.steps.length === 0} />
								<Taken view={view} place={line.place} />
							</div>
						))}
					</div>
				</div>
			</section>
			<div className={css.tools}>
				<IconButton small label={words.smaller} icon={<Minus aria-hidden />} onClick={zoomOut} />
				<span className={css.zoom} role="status" aria-label={words.zoom({ share: percent(zoom, 0) })}>
					{percent(zoom, 0)}
				</span>
				<IconButton small label={words.larger} icon={<Plus aria-hidden />} onClick={zoomIn} />
				<IconButton small label={words.fit} icon={<Maximize aria-hidden />} onClick={zoomToFit} />
			</div>
			{viewport.width >= 900 && (layout.width * zoom > viewport.width || layout.height * zoom > viewport.height) && (
				<Minimap
					layout={layout}
					height={height}
					viewport={{
						x: viewport.x / zoom,
						y: viewport.y / zoom,
						width: viewport.width / zoom,
						height: viewport.height / zoom,
					}}
					onMove={(x, y) => {
						const element = box.current;
						if (!element) return;
						element.scrollLeft = x * zoom - element.clientWidth / 2;
						element.scrollTop = y * zoom - element.clientHeight / 2;
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
	viewport,
	onMove,
}: {
	layout: Layout;
	height: number;
	viewport: Rect;
	onMove: (x: number, y: number) => void;
}) {
	const scale = Math.min(180 / layout.width, 140 / layout.height);
	const to = (event: PointerEvent<SVGSVGElement>) => {
		if (event.buttons !== 1) return;
		const rect = event.currentTarget.getBoundingClientRect();
		onMove((event.clientX - rect.left) / scale, (event.clientY - rect.top) / scale);
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
			{layout.lines.map((line) => (
				<path key={`${line.place.from} ${line.place.label}`} d={line.path} />
			))}
			{layout.nodes.map((node) => (
				<rect key={node.id} x={node.x - nodeWidth / 2} y={node.y} width={nodeWidth} height={height} rx={10} />
			))}
			<rect className={css.seen} x={viewport.x} y={viewport.y} width={viewport.width} height={viewport.height} />
		</svg>
	);
}
