import { X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client";
import { PageActionsEnabled } from "../base/pageActions";
import { catalogue } from "../base/words/catalogue";
import { explain } from "../base/words/errors";
import { Button } from "./Button";
import css from "./States.module.css";

const words = catalogue("shell.states", {
	again: "Try again",
	failed: "This could not be loaded",
	request: "Request",
	loading: "Loading",
	drop: "Clear “{name}”",
});

type EmptyProps = {
	/** Missing where the heading of the page says it. */
	title?: string;
	children?: ReactNode;
	/** The one button that begins. A page shows it here instead of among its actions. */
	action?: ReactNode;
	example?: ReactNode;
	/** What can be begun with: cards. */
	choices?: ReactNode;
};

/** Empty teaches what stands here once there is something: one sentence, an example, one button. */
export function Empty({ title, children, action, example, choices }: EmptyProps) {
	return (
		<div className={css.empty}>
			{title && <h2>{title}</h2>}
			{children && <div className={css.text}>{children}</div>}
			{example && <div className={css.example}>{example}</div>}
			{action && (
				<PageActionsEnabled value={true}>
					<div className={css.actions}>{action}</div>
				</PageActionsEnabled>
			)}
			{choices && <div className={css.choices}>{choices}</div>}
		</div>
	);
}

type Filter = { name: string; remove: () => void };

/** searched is the filter of a search field, if it has a text. */
export const searched = (text: string, onChange: (text: string) => void): Filter | false =>
	text.trim() !== "" && { name: text.trim(), remove: () => onChange("") };

/** NoMatch says that no row matches the filters. It names each, and offers to drop it. */
export function NoMatch({ title, filters }: { title: string; filters: (Filter | false)[] }) {
	return (
		<div className={css.empty}>
			<h2>{title}</h2>
			<div className={css.actions}>
				{filters.map(
					(filter) =>
						filter && (
							<Button key={filter.name} icon={<X aria-hidden />} onClick={filter.remove}>
								{words.drop({ name: filter.name })}
							</Button>
						),
				)}
			</div>
		</div>
	);
}

/** Failure shows that a part of the page could not be loaded; the rest of the page works on. Its title is null where a heading says it. */
export function Failure({
	error,
	retry,
	title = words.failed,
}: {
	error: unknown;
	retry?: () => void;
	title?: string | null;
}) {
	const id = error instanceof ApiError ? error.requestId : null;
	return (
		<div className={css.failure} role="alert">
			{title && <h2>{title}</h2>}
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
	const [delayed, setDelayed] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => setDelayed(true), 150);
		return () => clearTimeout(timer);
	}, []);
	return (
		<div className={css.skeleton} aria-busy="true">
			<span className="visually-hidden" role="status">
				{delayed ? words.loading : ""}
			</span>
			{Array.from({ length: rows }, (_, i) => (
				<div
					key={i}
					className={delayed ? css.bar : undefined}
					style={{ blockSize: height, inlineSize: `${95 - ((i * 17) % 40)}%` }}
				/>
			))}
		</div>
	);
}
