import { X } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { Dialog as AriaDialog, Heading } from "react-aria-components/Dialog";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { catalogue } from "../../base/words/catalogue";
import { Button, IconButton } from "../Button";
import css from "./Dialog.module.css";
import { CurrentRow } from "../currentRow";
import { TextField } from "../Field";

const words = catalogue("shell.dialog", { cancel: "Cancel", close: "Close", type: "Type {word} to confirm" });

export type DialogProps = {
	title: string;
	onClose: () => void;
	children: ReactNode;
	footer?: ReactNode;
	/** The button of the form, with Cancel (or another word) beside it, instead of a footer. why says why it cannot be pressed. */
	submit?: { label: ReactNode; cancel?: string; busy?: boolean; disabledReason?: string; autoFocus?: boolean };
	/** A drawer stands at the side, and fills the screen of a phone. */
	drawer?: "narrow" | "wide";
	/** It has room for two columns. */
	wide?: boolean;
	/** Only an action closes it. */
	mustAnswer?: boolean;
	role?: "dialog" | "alertdialog";
	onSubmit?: () => void;
};

/** Dialog is a dialog or a drawer over the page. It keeps the focus, and gives it back. */
export function Dialog({
	title,
	onClose,
	children,
	footer,
	submit,
	drawer,
	wide,
	mustAnswer,
	role = "dialog",
	onSubmit,
}: DialogProps) {
	const content = (
		<>
			<header className={css.header}>
				<Heading slot="title" className={css.title}>
					{title}
				</Heading>
				{!mustAnswer && <IconButton label={words.close} icon={<X aria-hidden />} onClick={onClose} />}
			</header>
			<div className={css.body}>{children}</div>
			{footer && <footer className={css.footer}>{footer}</footer>}
			{submit && (
				<footer className={css.footer}>
					<Button onClick={onClose}>{submit.cancel ?? words.cancel}</Button>
					<Button
						type="submit"
						variant="primary"
						busy={submit.busy}
						disabledReason={submit.disabledReason}
						autoFocus={submit.autoFocus}
					>
						{submit.label}
					</Button>
				</footer>
			)}
		</>
	);
	return (
		<ModalOverlay
			isOpen
			isDismissable={!mustAnswer && !drawer}
			isKeyboardDismissDisabled={mustAnswer}
			onOpenChange={(open) => !open && onClose()}
			className={css.scrim}
		>
			<Modal className={drawer ? `${css.drawer} ${css[drawer]}` : `${css.modal} ${wide ? css.broad : ""}`}>
				<CurrentRow value={null}>
					<AriaDialog role={role} className={css.dialog}>
						{onSubmit ? (
							<form
								noValidate
								className={css.dialog}
								onSubmit={(event: FormEvent) => {
									event.preventDefault();
									event.stopPropagation(); // not of a form that the dialog was opened from
									onSubmit();
								}}
							>
								{content}
							</form>
						) : (
							content
						)}
					</AriaDialog>
				</CurrentRow>
			</Modal>
		</ModalOverlay>
	);
}

export type ConfirmProps = {
	/** The question, such as "Delete 3 segments?" */
	title: string;
	/** The verb of the button. */
	action: string;
	danger?: boolean;
	/** A word to type first, for what is final or unusual. */
	type?: string;
	busy?: boolean;
	error?: ReactNode;
	children?: ReactNode;
	onConfirm: () => void;
	onClose: () => void;
};

/** Confirm asks before what cannot be undone. Its text states the consequence in numbers. */
export function Confirm({
	title,
	action,
	danger = true,
	type,
	busy,
	error,
	children,
	onConfirm,
	onClose,
}: ConfirmProps) {
	const [text, setText] = useState("");
	const ready = !type || text.trim() === type;
	return (
		<Dialog
			title={title}
			role="alertdialog"
			onClose={onClose}
			onSubmit={() => ready && !busy && onConfirm()}
			footer={
				<>
					<Button autoFocus={!type} onClick={onClose}>
						{words.cancel}
					</Button>
					<Button
						type="submit"
						variant={danger ? "danger" : "primary"}
						busy={busy}
						disabledReason={ready ? undefined : words.type({ word: type ?? "" })}
					>
						{action}
					</Button>
				</>
			}
		>
			{children}
			{type && (
				<TextField
					label={words.type({ word: type })}
					value={text}
					onChange={setText}
					autoComplete="off"
					spellCheck={false}
					autoFocus
				/>
			)}
			{error}
		</Dialog>
	);
}
