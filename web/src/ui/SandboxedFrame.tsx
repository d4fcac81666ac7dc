import { type CSSProperties, useEffect, useRef, useState } from "react";
import { retryImport } from "../base/lazy";
import { outside } from "../base/paths";
import type { Reports } from "./frame/reports";

/** Link is a link in what a frame shows, and where it stands in it. */
export type Link = { address: string; x: number; y: number; width: number; height: number };
type FrameMessage =
	| { kind: "ready" }
	| { kind: "size"; height: number; links: Link[] }
	| { kind: "hover"; address: string }
	| { kind: "report" };

type Props = Reports & {
	title: string;
	html: string;
	dark: boolean;
	forced?: boolean;
	images?: boolean /** Links to pages open in a new tab, instead of doing nothing. */;
	opens?: boolean;
	className?: string;
	width?: CSSProperties["inlineSize"];
	onHover?: (address: string) => void;
	onLinks?: (links: Link[]) => void;
};

/** A mail is no higher than this, in pixels; one on which something is drawn is not scrolled in itself. */
const highest = 20_000;
const highestMarked = 200_000;

let reader: Promise<typeof import("./frame/reports")> | null = null;

/** loadReader loads what reads the marks of a mail, which few pages ask for. */
const loadReader = () => (reader ??= retryImport(() => import("./frame/reports")));

/** Framed shows HTML in a page with an origin of its own, in which nothing of the HTML runs. */
export function SandboxedFrame({
	title,
	html,
	dark,
	forced = false,
	images = true,
	opens = false,
	className,
	width = "100%",
	lookAt = -1,
	...callbacks
}: Props) {
	const frame = useRef<HTMLIFrameElement>(null);
	const [ready, setReady] = useState(false);
	const [height, setHeight] = useState(400);
	const latest = useRef(callbacks);
	latest.current = callbacks;
	const marks = Boolean(callbacks.onMarks || callbacks.onPress || callbacks.onPoint);
	useEffect(() => {
		const listen = (event: MessageEvent<FrameMessage>) => {
			if (event.source !== frame.current?.contentWindow) return;
			if (event.data.kind === "ready") setReady(true);
			else if (event.data.kind === "size") {
				setHeight(Math.min(latest.current.onMarks ? highestMarked : highest, Math.max(120, event.data.height)));
				latest.current.onLinks?.(event.data.links);
			} else if (event.data.kind === "hover") latest.current.onHover?.(event.data.address);
			else if (event.data.kind === "report")
				loadReader().then(
					(reader) => reader.read(event.data, latest.current),
					() => undefined, // the server has another version, which the page says elsewhere
				);
		};
		window.addEventListener("message", listen);
		return () => window.removeEventListener("message", listen);
	}, []);
	useEffect(() => {
		const message = { kind: "show", html, dark, forced, images, opens, marks };
		if (ready) frame.current?.contentWindow?.postMessage(message, "*");
	}, [ready, html, dark, forced, images, opens, marks]);
	useEffect(() => {
		if (ready && lookAt >= 0) frame.current?.contentWindow?.postMessage({ kind: "look", mark: lookAt }, "*");
	}, [ready, lookAt]);
	return (
		<iframe
			ref={frame}
			title={title}
			src={outside.frame}
			sandbox={opens ? "allow-scripts allow-popups allow-popups-to-escape-sandbox" : "allow-scripts"}
			referrerPolicy="no-referrer"
			className={className}
			style={{ inlineSize: width, blockSize: height }}
		/>
	);
}
