import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { useParam } from "../base/params";
import { catalogue } from "../base/words/catalogue";
import { bytes } from "../base/words/formats";
import { Checkbox, Select } from "./Field";
import type { Reports } from "./frame/reports";
import { SandboxedFrame } from "./SandboxedFrame";
import { useNarrow } from "./useNarrow";
import css from "./MailFrame.module.css";

const words = catalogue("shell.mailFrame", {
	mail: "Email preview",
	width: "Width",
	phone: "Phone",
	desktop: "Desktop",
	full: "Full width",
	theme: "Colours",
	light: "Light",
	dark: "Dark",
	forced: "Forced dark",
	forcedNote: "An approximation: mail programs force dark colours in different ways.",
	images: "Images",
	view: "View",
	html: "HTML",
	text: "Text",
	source: "Source",
	headers: "Headers",
	address: "Links to {a}",
	large: "{size}. Gmail cuts emails above 102 KB",
	cut: "{size}, above 102 KB: Gmail cuts it",
	nothing: "Nothing to show.",
});

/** The width of the column in which programs on a desktop show most mails, in pixels. Where there is less room it is shown smaller. */
const desktop = "600";

/** Above this many bytes some programs cut a mail. */
const clipped = 102_000;
const nearlyClipped = 90_000;

type Props = {
	html: string | null;
	text: string | null /** Name and value of each, in their order. */;
	headers?: string[][];
	/** In bytes; false if it is told elsewhere. */
	size?: number | null | false;
	fullHeight?: boolean /** It fills the height that it is given. */;
	fill?: boolean /** Links open in a new tab. */;
	opens?: boolean;
	/** The source, if it is not html. */
	source?: string | null;
	/** What is drawn over it, in its coordinates, and what is heard of the marks in it. */
	overlay?: ReactNode;
	reports?: Reports;
};

/** MailFrame shows a mail in a page with an origin of its own, in which nothing of the mail runs. */
export function MailFrame({ html, text, headers, size, fullHeight, fill, opens, source, overlay, reports }: Props) {
	const [hovered, setHovered] = useState("");
	const stage = useRef<HTMLDivElement>(null);
	const room = useRoom(stage);
	const [width, setWidth] = useParam("device", useNarrow() ? "375" : desktop);
	const [theme, setTheme] = useParam("colours", "light");
	const [images, setImages] = useParam("images", "on");
	const [part, setView] = useParam("part", html ? "html" : "text");
	const parts: { [part: string]: unknown } = { html, text, source: source ?? html, headers };
	const view = parts[part] ? part : html ? "html" : "text";
	const shown = size || (html ? new TextEncoder().encode(html).length : 0);
	return (
		<div className={css.mail} data-fill={fill || undefined}>
			<div className={css.tools}>
				<Select
					label={words.view}
					hideLabel
					value={view}
					onChange={setView}
					choices={[
						{ value: "html", label: words.html, disabled: !html },
						{ value: "text", label: words.text, disabled: !text },
						{ value: "source", label: words.source, disabled: !html },
						...(headers ? [{ value: "headers", label: words.headers }] : []),
					]}
				/>
				{view === "html" && (
					<>
						<Select
							label={words.width}
							hideLabel
							value={width}
							onChange={setWidth}
							choices={[
								{ value: "375", label: words.phone },
								{ value: desktop, label: words.desktop },
								{ value: "full", label: words.full },
							]}
						/>
						<Select
							label={words.theme}
							hideLabel
							value={theme}
							onChange={setTheme}
							choices={[
								{ value: "light", label: words.light },
								{ value: "dark", label: words.dark },
								{ value: "forced", label: words.forced },
							]}
						/>
						<Checkbox
							label={words.images}
							checked={images === "on"}
							onChange={(checked) => setImages(checked ? "on" : "off")}
						/>
					</>
				)}
				{size !== false && (
					<span
						className={css.size}
						data-tone={shown > clipped ? "danger" : shown > nearlyClipped ? "warning" : undefined}
					>
						{shown > clipped
							? words.cut({ size: bytes(shown) })
							: shown > nearlyClipped
								? words.large({ size: bytes(shown) })
								: bytes(shown)}
					</span>
				)}
				{view === "html" && theme === "forced" && <p className={css.note}>{words.forcedNote}</p>}
			</div>
			<div
				ref={stage}
				className={css.stage}
				tabIndex={fullHeight ? undefined : 0}
				data-tall={fullHeight || undefined}
				hidden={view !== "html"}
			>
				{view === "html" && (
					<div
						className={css.spot}
						style={{
							inlineSize: width === "full" ? "100%" : width === desktop ? `${desktop}px` : `min(100%, ${width}px)`,
							zoom: width === desktop && room > 0 ? Math.min(1, room / Number(desktop)) : 1,
						}}
					>
						<SandboxedFrame
							{...reports}
							title={words.mail}
							html={html ?? ""}
							dark={theme === "dark"}
							forced={theme === "forced"}
							images={images === "on"}
							opens={opens}
							className={css.frame}
							onHover={setHovered}
						/>
						{overlay}
					</div>
				)}
			</div>
			{view === "text" && <pre className={css.text}>{text || words.nothing}</pre>}
			{view === "source" && <pre className={css.text}>{source ?? html}</pre>}
			{view === "headers" && headers && (
				<pre className={css.text}>{headers.map(([name, value]) => `${name}: ${value}\n`).join("")}</pre>
			)}
			<p className={css.address} aria-live="off">
				{hovered && view === "html" ? words.address({ a: hovered }) : ""}
			</p>
		</div>
	);
}

/** useRoom measures the width inside of an element, in pixels, before it is painted; 0 while it is hidden. */
function useRoom(ref: RefObject<HTMLElement | null>): number {
	const [room, setRoom] = useState(0);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const measure = () => {
			const { paddingInlineStart, paddingInlineEnd } = getComputedStyle(element);
			setRoom(element.clientWidth - Number.parseFloat(paddingInlineStart) - Number.parseFloat(paddingInlineEnd));
		};
		measure();
		const watch = new ResizeObserver(measure);
		watch.observe(element);
		return () => watch.disconnect();
	}, [ref]);
	return room;
}
