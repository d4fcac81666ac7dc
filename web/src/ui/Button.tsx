import { Plus } from "lucide-react";
import { type ButtonHTMLAttributes, type ReactNode, type Ref, useContext, useId, useLayoutEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { type PageAction, usePageActions } from "../base/pageActions";
import css from "./Button.module.css";
import { CurrentRow } from "./currentRow";

type ButtonVariant = "primary" | "default" | "quiet" | "danger";

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> & {
	variant?: ButtonVariant;
	small?: boolean;
	/** Why the button cannot be pressed now, and where that is fixed. The button stays focusable. */
	disabledReason?: ReactNode;
	busy?: boolean;
	icon?: ReactNode;
	/** What it does for the page: it creates a record, and looks and is reached by key like it, or it edits this one. */
	kind?: "create" | "edit";
	ref?: Ref<HTMLButtonElement>;
};

/** offer is what a button among the actions of a page offers, if its label is a text. */
function offer(
	label: ReactNode,
	variant: ButtonVariant,
	kind: "create" | "edit" | undefined,
	disabledReason: ReactNode,
	run: () => void,
): PageAction[] {
	return typeof label === "string"
		? [{ title: label, kind: kind ?? (variant === "primary" ? "primary" : undefined), disabledReason, run }]
		: [];
}

/** Button is a button. With `why` it is disabled, and says why on focus, hover and press. */
export function Button({
	kind,
	variant = kind === "create" ? "primary" : "default",
	small,
	disabledReason,
	busy,
	icon = kind === "create" && <Plus aria-hidden />,
	children,
	onClick,
	type = "button",
	ref,
	...rest
}: Props) {
	const id = useId();
	const own = useRef<HTMLButtonElement>(null);
	const current = useContext(CurrentRow);
	usePageActions(offer(children, variant, kind, disabledReason, () => own.current?.click()));
	const off = Boolean(disabledReason) || busy;
	// A button that begins or ceases to say why is another element: it keeps the focus.
	const focused = useRef(false);
	const isDisabled = Boolean(disabledReason);
	useLayoutEffect(() => {
		if (isDisabled !== undefined && focused.current && document.activeElement === document.body)
			own.current?.focus({ preventScroll: true });
	}, [isDisabled]);
	const button = (
		<button
			tabIndex={current === false ? -1 : undefined}
			{...rest}
			onFocus={(event) => {
				focused.current = true;
				rest.onFocus?.(event);
			}}
			onBlur={(event) => {
				const button = event.currentTarget;
				requestAnimationFrame(() => {
					if (button.isConnected) focused.current = document.activeElement === button;
				});
				rest.onBlur?.(event);
			}}
			ref={(el) => {
				own.current = el;
				if (typeof ref === "function") return ref(el);
				if (ref) ref.current = el;
			}}
			type={type}
			className={[css.button, css[variant], small && css.small, !children && css.square].filter(Boolean).join(" ")}
			aria-disabled={off || undefined}
			aria-busy={busy || undefined}
			aria-describedby={disabledReason ? id : rest["aria-describedby"]}
			onClick={(event) => {
				if (off) {
					event.preventDefault();
					return;
				}
				onClick?.(event);
			}}
		>
			{icon}
			{children && <span>{children}</span>}
		</button>
	);
	if (!disabledReason) return button;
	return (
		<span className={css.explained}>
			{button}
			<span id={id} role="tooltip" className={css.why}>
				{disabledReason}
			</span>
		</span>
	);
}

/** LinkButton is a link with the look of a button. With `why` it leads nowhere, and says why like a button. */
export function LinkButton({
	to,
	kind,
	disabledReason,
	variant = kind === "create" ? "primary" : "default",
	small,
	icon = kind === "create" && <Plus aria-hidden />,
	hint,
	children,
}: {
	to: string;
	hint?: string;
	kind?: "create" | "edit";
	disabledReason?: ReactNode;
	variant?: ButtonVariant;
	small?: boolean;
	icon?: ReactNode;
	children: ReactNode;
}) {
	const [, navigate] = useLocation();
	usePageActions(disabledReason ? [] : offer(children, variant, kind, undefined, () => navigate(to)));
	if (disabledReason)
		return (
			<Button kind={kind} variant={variant} small={small} icon={icon} disabledReason={disabledReason}>
				{children}
			</Button>
		);
	return (
		<Link href={to} title={hint} className={[css.button, css[variant], small && css.small].filter(Boolean).join(" ")}>
			{icon}
			<span>{children}</span>
		</Link>
	);
}

/** IconButton is a button with an icon, whose name is its label. */
export function IconButton({ label, ...rest }: Omit<Props, "children" | "aria-label" | "title"> & { label: string }) {
	return <Button variant="quiet" {...rest} aria-label={label} title={label} />;
}
