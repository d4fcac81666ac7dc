import { useEffect, useRef, useState } from "react";
import css from "./Thumb.module.css";
import { useInView } from "./useInView";
import { outside } from "../base/paths";

type Props = {
	/** What is shown; null keeps the place. */
	html: string | null | undefined;
	label: string;
	/** Width and height on the screen, in pixels. */
	width?: number;
	height?: number;
	/** Width that the mail is laid out for. */
	layout?: number;
	/** Called when the place comes into view, to load what is shown. */
	onView?: () => void;
};

/** Thumb shows a mail as a small picture, in the page in which nothing of the mail runs. It is made when it comes into view. */
export function Thumb({ html, label, width = 160, height = 120, layout = 600, onView }: Props) {
	const container = useRef<HTMLDivElement>(null);
	const frame = useRef<HTMLIFrameElement>(null);
	const inView = useInView(container);
	const [ready, setReady] = useState(false);
	const onViewRef = useRef(onView);
	onViewRef.current = onView;
	useEffect(() => {
		if (inView) onViewRef.current?.();
	}, [inView]);
	useEffect(() => {
		const listen = (event: MessageEvent<{ kind: string }>) => {
			if (event.source === frame.current?.contentWindow && event.data.kind === "ready") setReady(true);
		};
		window.addEventListener("message", listen);
		return () => window.removeEventListener("message", listen);
	}, []);
	useEffect(() => {
		if (ready && html)
			frame.current?.contentWindow?.postMessage({ kind: "show", html, dark: false, images: true }, "*");
	}, [ready, html]);
	const scale = width / layout;
	return (
		<div
			ref={container}
			className={css.thumb}
			data-shown={html ? true : undefined}
			style={{ inlineSize: width, blockSize: height }}
			inert
		>
			{inView && html && (
				<iframe
					ref={frame}
					title={label}
					tabIndex={-1}
					scrolling="no"
					src={outside.frame}
					sandbox="allow-scripts"
					referrerPolicy="no-referrer"
					style={{ inlineSize: layout, blockSize: height / scale, transform: `scale(${scale})` }}
				/>
			)}
		</div>
	);
}
