import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client";
import { catalogue } from "../words/catalogue";
import { explain } from "../words/errors";
import { Button } from "./Button";
import css from "./States.module.css";

const words = catalogue({
	again: "Try again",
	failed: "This could not be loaded",
	request: "Request",
	loading: "Loading",
});

/** Empty teaches what stands here once there is something: one sentence, an example, one button. */
export function Empty({ title, children, action, example }: { title: string; children?: ReactNode; action?: ReactNode; example?: ReactNode }) {
	return (
		<div className={css.empty}>
			<h2>{title}</h2>
			{children && <div className={css.text}>{children}</div>}
			{example && <div className={css.example}>{example}</div>}
			{action && <div className={css.actions}>{action}</div>}
		</div>
	);
}

/** Failure shows that a part of the page could not be loaded; the rest of the page works on. */
export function Failure({ error, retry, title = words.failed }: { error: unknown; retry?: () => void; title?: string }) {
	const id = error instanceof ApiError ? error.requestId : null;
	return (
		<div className={css.failure} role="alert">
			<h2>{title}</h2>
			{error !== null && <p>{explain(error)}</p>}
			{id && (
				<p className={css.request}>
					{words.request} <code>{id}</code>
				</p>
			)}
			{retry && (
				<div className={css.actions}>
					<Button onClick={retry}>{words.again}</Button>
				</div>
			)}
		</div>
	);
}

/** Skeleton has the shape of what is loaded. It appears only when loading takes longer than a blink. */
export function Skeleton({ rows = 6, height = 20 }: { rows?: number; height?: number }) {
	const [late, setLate] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => setLate(true), 150);
		return () => clearTimeout(timer);
	}, []);
	return (
		<div className={css.skeleton} aria-busy="true">
			<span className="visually-hidden" role="status">
				{late ? words.loading : ""}
			</span>
			{Array.from({ length: rows }, (_, i) => (
				<div key={i} className={late ? css.bar : undefined} style={{ blockSize: height, inlineSize: `${95 - ((i * 17) % 40)}%` }} />
			))}
		</div>
	);
}
