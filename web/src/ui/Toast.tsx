import { X } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { catalogue } from "../base/words/catalogue";
import { Button, IconButton } from "./Button";
import css from "./Toast.module.css";

const words = catalogue("shell.toast", { undo: "Undo", dismiss: "Dismiss", messages: "Messages" });

/** Counts is what goes down to 0 each second, and how a message says it. */
type Counts = { expiresAt: number; format: (seconds: number) => string };

type Toast = { id: number; text: string; undo?: () => void; tone: "neutral" | "danger"; counts?: Counts };

let toasts: Toast[] = [];

/** What was done in the last minutes and can be undone, oldest first: longer than its message is shown. */
let undoable: { id: number; text: string; undo: () => void; expiresAt: number }[] = [];
const undoDuration = 5 * 60_000;

let next = 1;
const listeners = new Set<() => void>();

function set(all: Toast[]) {
	toasts = all;
	for (const listener of listeners) listener();
}

/** toast says that something was done, and offers to undo it. What stays wrong is shown at its place instead. */
export function toast(text: string, options: { undo?: () => void; tone?: "danger" } = {}) {
	if (options.undo)
		undoable = [...undoable.slice(-19), { id: next, text, undo: options.undo, expiresAt: Date.now() + undoDuration }];
	set([...toasts.slice(-2), { id: next++, text, undo: options.undo, tone: options.tone ?? "neutral" }]);
}

/** countdown says for how many seconds something waits, in one message that stays until then. */
export function countdown(seconds: number, format: Counts["format"]) {
	const expiresAt = Math.max(Date.now() + seconds * 1000, ...toasts.map((toast) => toast.counts?.expiresAt ?? 0));
	set([
		...toasts.filter((toast) => !toast.counts).slice(-2),
		{ id: next++, text: format(seconds), tone: "neutral", counts: { expiresAt, format } },
	]);
}

const dismiss = (id: number) => set(toasts.filter((toast) => toast.id !== id));

/** undo undoes what a message offers to undo, once. */
function undo(id: number) {
	const match = undoable.find((entry) => entry.id === id);
	undoable = undoable.filter((entry) => entry.id !== id);
	dismiss(id);
	match?.undo();
}

const lastUndoable = () => undoable.findLast((entry) => entry.expiresAt > Date.now());

/** undoText says what undoLast would undo. */
export const undoText = () => lastUndoable()?.text;

/** undoLast undoes the last thing of the last five minutes that can be undone. */
export function undoLast(): boolean {
	const last = lastUndoable();
	if (last) undo(last.id);
	return Boolean(last);
}

const toastDuration = 8000;

/** Toasts shows the messages, in a region that screen readers announce. */
export function Toasts() {
	const all = useSyncExternalStore(
		(listener) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		() => toasts,
	);
	// A message that is removed while it has the focus returns it to the element that had it before.
	const from = useRef<HTMLElement | null>(null);
	const restoreFocus = () =>
		requestAnimationFrame(() => {
			if (document.activeElement !== document.body) return;
			(from.current?.isConnected ? from.current : document.querySelector<HTMLElement>("main h1"))?.focus({
				preventScroll: true,
			});
		});
	return (
		<section
			aria-label={words.messages}
			className={css.region}
			onFocus={({ relatedTarget, currentTarget }) => {
				if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget))
					from.current = relatedTarget;
			}}
		>
			<div aria-live="polite" aria-atomic="false">
				{all.map((toast) => (
					<Item key={toast.id} toast={toast} onGone={restoreFocus} />
				))}
			</div>
		</section>
	);
}

function Item({ toast, onGone }: { toast: Toast; onGone: () => void }) {
	const remainingTime = useRef(toastDuration);
	const [hovered, setHovered] = useState(false);
	const [focused, setFocused] = useState(false);
	const isPaused = hovered || focused;
	const { counts } = toast;
	const [seconds, setSeconds] = useState(0);
	useEffect(() => {
		if (!counts) return;
		const tick = () => {
			const secondsLeft = Math.ceil((counts.expiresAt - Date.now()) / 1000);
			if (secondsLeft > 0) setSeconds(secondsLeft);
			else dismiss(toast.id);
		};
		tick();
		const timer = setInterval(tick, 250);
		return () => clearInterval(timer);
	}, [toast.id, counts]);
	useEffect(() => {
		if (isPaused || counts) return;
		const since = Date.now();
		const timer = setTimeout(() => dismiss(toast.id), remainingTime.current);
		return () => {
			clearTimeout(timer);
			remainingTime.current -= Date.now() - since;
		};
	}, [toast.id, isPaused, counts]);
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: it only waits while somebody reads it
		<div
			className={`${css.toast} ${toast.tone === "danger" ? css.danger : ""}`}
			onPointerEnter={() => setHovered(true)}
			onPointerLeave={() => setHovered(false)}
			onFocus={() => setFocused(true)}
			onBlur={() => setFocused(false)}
		>
			{counts ? (
				<p>
					<span className="visually-hidden">{toast.text}</span>
					<span aria-hidden>{counts.format(seconds)}</span>
				</p>
			) : (
				<p>{toast.text}</p>
			)}
			{toast.undo && (
				<Button
					small
					onClick={() => {
						undo(toast.id);
						onGone();
					}}
				>
					{words.undo}
				</Button>
			)}
			<IconButton
				small
				label={words.dismiss}
				icon={<X aria-hidden />}
				onClick={() => {
					dismiss(toast.id);
					onGone();
				}}
			/>
		</div>
	);
}
