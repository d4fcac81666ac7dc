import { useQueryClient } from "@tanstack/react-query";
import { ImageUp } from "lucide-react";
import { type ClipboardEvent, type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from "react";
import { lazyComponent } from "../../base/lazy";
import { within } from "../../base/queries";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import { toast } from "../../ui/Toast";
import { accepted, failureOf, filesOf, hasFiles, prepared } from "../assets/assets";
import type { Described } from "./AskAlt";
import { insertImages, isImage, mailWidth, setImage } from "./images";
import { type Landing, landings, nearest } from "./landing";
import type { Act } from "./model/acts";
import { places } from "./model/places";
import type { Node, Tree } from "./model/tree";
import { kindName } from "./names";
import type { View } from "./picture";
import { changed, noPlace } from "./refusals";
import { type Target, targetNow } from "./targets";

const AskAlt = lazyComponent(() => import("./AskAlt"));

const words = catalogue("design.useImages", {
	upload: "Upload images",
	file: "Image files",
	added: "Added: {name}",
	replaced: "Image replaced.",
});

/** After so many milliseconds without a movement, what was dragged has left the page. */
const left = 2000;

type Chosen = { images: Described[]; target: Target };

type Props = {
	tree: Tree;
	selected: Node | null;
	readOnly: boolean;
	/** The layer over the picture of the mail. */
	layer: RefObject<HTMLElement | null>;
	view: () => View;
	/** Shows where what is dragged may land, and where it would. */
	show: (drag: { landings: Landing[]; target: Landing | null } | null) => void;
	done: (act: Act | null, sentence: string, refusal: string) => void;
};

/** useImages adds images from files to a design: dropped on the picture of the mail, pasted, or chosen. */
export function useImages({ tree, selected, readOnly, layer, view, show, done }: Props) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /assets");
	const [asked, setAsked] = useState<{ files: File[]; refused: string[]; target: Target } | null>(null);
	const [chosen, setChosen] = useState<Chosen | null>(null);
	const [busy, setBusy] = useState(false);
	const input = useRef<HTMLInputElement>(null);
	const off = readOnly || disabledReason !== undefined || busy || asked !== null;
	const behind = (): Target => ({ kind: "behind", node: selected?.from ?? null, text: tree.text });

	const add = async (files: File[], target: Target) => {
		if (off || files.length === 0) return;
		setBusy(true);
		const ready: File[] = [];
		const refused: string[] = [];
		for (const file of files) {
			try {
				ready.push(await prepared(file, mailWidth(tree)));
			} catch (error) {
				refused.push(failureOf(file, error));
			}
		}
		setBusy(false);
		if (ready.length > 0) setAsked({ files: ready, refused, target });
		else toast(refused.join(" "), { tone: "danger" });
	};

	const insert = ({ images, target }: Chosen) => {
		void client.invalidateQueries(within("assets"));
		const where = targetNow(tree, target, images.length);
		const [first] = images;
		if (!where || !first) return done(null, "", changed());
		if ("replaced" in where)
			return done(setImage(tree, where.replaced, "src", first, first.alt), words.replaced, changed());
		const name = kindName("mj-image");
		done(insertImages(tree, where, images), words.added({ name }), noPlace(name));
	};

	/** Handlers of the page, and what is done later, ask for what is here then. */
	const latest = useRef({ tree, off, selected, view, show, add, insert });
	latest.current = { tree, off, selected, view, show, add, insert };
	useEffect(() => {
		if (!chosen) return;
		// Before, the dialog gives back the focus, which the selection is to have.
		const frame = requestAnimationFrame(() => {
			setChosen(null);
			latest.current.insert(chosen);
		});
		return () => cancelAnimationFrame(frame);
	}, [chosen]);
	const shownByFrame = useRef<() => void>(() => undefined);
	useEffect(() => {
		let known: { tree: Tree; all: Landing[] } | null = null;
		let timer = 0;
		const end = () => {
			known = null;
			clearTimeout(timer);
			latest.current.show(null);
		};
		/** landingsNow returns where images may land. They are looked for once, and again after a change. */
		const landingsNow = () => {
			const { tree, selected, view } = latest.current;
			if (known?.tree === tree) return known.all;
			const shown = view();
			const all = landings(places(tree, "mj-image"), shown);
			const boxes = isImage(selected) ? shown.boxesOf(selected) : [];
			// The image itself is a landing place as well, each time that it is shown.
			if (selected)
				for (const [i, box] of boxes.entries()) all.push({ place: { parent: selected.parent, index: -1 - i }, box });
			known = { tree, all };
			return all;
		};
		const at = ({ clientX, clientY }: MouseEvent) => {
			const box = layer.current?.getBoundingClientRect();
			if (!box || latest.current.off) return null;
			const [x, y] = [clientX - box.left, clientY - box.top];
			if (x < -24 || y < -24 || x > box.width + 24 || y > box.height + 24) return null;
			const all = landingsNow();
			const replaced = all.find(
				({ place, box: { x: left, y: top, width, height } }) =>
					place.index < 0 && x > left && y > top && x < left + width && y < top + height,
			);
			return {
				landings: all,
				target:
					replaced ??
					nearest(
						all.filter(({ place }) => place.index >= 0),
						x,
						y,
					),
			};
		};
		const begin = () => {
			if (latest.current.off) return;
			latest.current.show({ landings: landingsNow(), target: null });
			clearTimeout(timer);
			timer = window.setTimeout(end, left);
		};
		shownByFrame.current = begin;
		const over = (event: DragEvent) => {
			if (!hasFiles(event.dataTransfer) || !layer.current?.checkVisibility()) return;
			if (event.defaultPrevented) return end(); // something else in the page has use for it
			const drag = at(event);
			if (drag) event.preventDefault();
			if (drag && event.dataTransfer) event.dataTransfer.dropEffect = "copy";
			if (latest.current.off) return;
			begin();
			if (drag) latest.current.show(drag);
		};
		const drop = (event: DragEvent) => {
			if (!hasFiles(event.dataTransfer) || !layer.current?.checkVisibility()) return;
			const drag = event.defaultPrevented ? null : at(event);
			end();
			if (!drag) return;
			event.preventDefault();
			const { tree, selected, add } = latest.current;
			const { text } = tree;
			const place = drag.target?.place;
			const target: Target =
				place && place.index >= 0
					? { kind: "place", place, text }
					: { kind: place ? "replace" : "behind", node: place ? (selected?.from ?? null) : null, text };
			void add(filesOf(event.dataTransfer), target);
		};
		const leave = (event: DragEvent) => {
			if (event.relatedTarget === null && hasFiles(event.dataTransfer)) end();
		};
		/** keepPage keeps the browser from showing a file that is let go, in place of the page. */
		const keepPage = (event: DragEvent) => {
			if (!hasFiles(event.dataTransfer) || event.defaultPrevented) return;
			event.preventDefault();
			if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
		};
		document.addEventListener("dragover", over);
		document.addEventListener("dragleave", leave);
		document.addEventListener("drop", drop);
		// The window hears of it last, when no design of the page has had use for it.
		window.addEventListener("dragover", keepPage);
		window.addEventListener("drop", keepPage);
		return () => {
			clearTimeout(timer);
			document.removeEventListener("dragover", over);
			document.removeEventListener("dragleave", leave);
			document.removeEventListener("drop", drop);
			window.removeEventListener("dragover", keepPage);
			window.removeEventListener("drop", keepPage);
		};
	}, [layer]);

	const upload: ReactNode = !readOnly && (
		<div>
			<input
				ref={input}
				type="file"
				accept={accepted}
				multiple
				hidden
				aria-label={words.file}
				onChange={(event) => {
					void add([...(event.target.files ?? [])], behind());
					event.target.value = ""; // the same file can be chosen again
				}}
			/>
			<Button
				small
				icon={<ImageUp aria-hidden />}
				busy={busy}
				disabledReason={disabledReason}
				onClick={() => input.current?.click()}
			>
				{words.upload}
			</Button>
		</div>
	);
	return {
		/** Chooses files: what dropping does, by keys. */
		upload,
		dialog: asked && (
			<Suspense fallback={null}>
				<AskAlt
					files={asked.files}
					refused={asked.refused}
					onClose={() => setAsked(null)}
					onDone={(images: Described[]) => {
						setAsked(null);
						setChosen({ images, target: asked.target });
					}}
				/>
			</Suspense>
		),
		/** The frame, to which the browser gives what is dragged over it, says that there is something. */
		onFiles: () => shownByFrame.current(),
		onPaste: (event: ClipboardEvent) => {
			const target = event.target as Element;
			if (target.closest("input, textarea, select, [contenteditable]")) return;
			const files = filesOf(event.clipboardData);
			if (off || files.length === 0) return;
			event.preventDefault();
			void add(files, behind());
		},
	};
}
