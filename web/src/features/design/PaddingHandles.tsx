import { type PointerEvent, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { follow } from "../../ui/drag";
import type { Apply } from "./Kept";
import { phoneLook } from "./model/phones";
import type { Node, Tree } from "./model/tree";
import css from "./Padding.module.css";
import { areaOf, dragged, type Edge, edgesOf, type Side, setPadding } from "./padding";
import type { Box } from "./picture";

const words = catalogue("design.paddingHandles", { value: "{pixels} px", drag: "Drag to change the padding" });

const at = (box: Box) => ({
	insetInlineStart: box.x,
	insetBlockStart: box.y,
	inlineSize: box.width,
	blockSize: box.height,
});

type Props = { tree: Tree; node: Node; box: Box; apply: Apply; onPhone: boolean };

/** PaddingHandles change the padding of an element by dragging its inner edges, in a layer over the picture. They are for pointers alone; PaddingFields are for keys, too. */
export function PaddingHandles({ tree, node, box, apply, onPhone }: Props) {
	const [drag, setDrag] = useState<{ side: Side; pixels: number } | null>(null);
	// A padding that holds on phones alone is changed among the settings.
	if (node.kind !== "element" || (onPhone && phoneLook(tree, node).padding)) return null;
	const edges = edgesOf(tree, node, box);
	const press = (event: PointerEvent<HTMLElement>, edge: Edge) => {
		// The picture may scroll meanwhile.
		const layer = event.currentTarget.closest("[aria-hidden]");
		const from = (x: number, y: number) => {
			const { left = 0, top = 0 } = layer?.getBoundingClientRect() ?? {};
			return [x - left, y - top] as const;
		};
		const [x0, y0] = from(event.clientX, event.clientY);
		let pixels = edge.pixels;
		if (event.button === 0) setDrag({ side: edge.side, pixels });
		follow(
			event,
			(...pointer) => {
				const [x, y] = from(...pointer);
				pixels = dragged(edge, x - x0, y - y0);
				setDrag({ side: edge.side, pixels });
			},
			(dropped) => {
				setDrag(null);
				if (dropped && pixels !== edge.pixels) apply(setPadding(tree, node, edge.side, `${pixels}px`));
			},
		);
	};
	return (
		<div className={css.handles} data-dragging={drag !== null || undefined} aria-hidden>
			{edges.map((edge) => {
				const isDragged = drag?.side === edge.side;
				const pixels = isDragged ? drag.pixels : edge.pixels;
				return (
					<div
						key={edge.side}
						className={css.area}
						style={at(areaOf(edge, pixels))}
						data-side={edge.side}
						data-dragged={isDragged || undefined}
					>
						<span
							className={css.handle}
							title={words.drag}
							data-padding={edge.side}
							onPointerDown={(event) => press(event, edge)}
						/>
						{isDragged && <output className={css.value}>{words.value({ pixels })}</output>}
					</div>
				);
			})}
		</div>
	);
}
