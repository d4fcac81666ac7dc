import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { isConflict } from "../api/client";
import { catalogue } from "../base/words/catalogue";
import { Button } from "./Button";
import { Confirm, Dialog } from "./Dialog";
import { FormProblems } from "./FormProblems";
import { InUse } from "./Holders";
import { type DraftForm, RestoredCallout } from "./draftForm";

const words = catalogue("shell.editDrawer", { save: "Save", cancel: "Cancel", remove: "Delete" });

type Props = {
	title: string;
	form: DraftForm;
	/** Why the record cannot be changed. */
	disabledReason?: string;
	/** How the record is deleted, if there is one already. */
	remove?: {
		title: string;
		text: string;
		run: () => Promise<void> /** Reads the record again when somebody changed it meanwhile. */;
		reload?: () => unknown;
	};
	onSave: () => void;
	onClose: () => void;
	children: ReactNode;
};

/** EditDrawer is the drawer in which a record is created, changed or deleted. Cancel drops what was typed; closing it in another way keeps that for the next time. */
export function EditDrawer({ title, form, disabledReason, remove, onSave, onClose, children }: Props) {
	const [deleting, setDeleting] = useState(false);
	const removing = useMutation({
		mutationFn: async () => remove?.run(),
		onError: (error) => isConflict(error) && void remove?.reload?.(),
	});
	return (
		<Dialog
			drawer="narrow"
			title={title}
			onClose={onClose}
			onSubmit={() => !disabledReason && onSave()}
			footer={
				<>
					{remove && (
						<Button variant="quiet" disabledReason={disabledReason} onClick={() => setDeleting(true)}>
							{words.remove}
						</Button>
					)}
					<Button
						onClick={() => {
							form.discard();
							onClose();
						}}
					>
						{words.cancel}
					</Button>
					<Button type="submit" variant="primary" busy={form.busy} disabledReason={disabledReason}>
						{words.save}
					</Button>
				</>
			}
		>
			<RestoredCallout form={form} />
			<FormProblems problems={form.problems} />
			{children}
			{deleting && remove && (
				<Confirm
					title={remove.title}
					action={words.remove}
					busy={removing.isPending}
					error={removing.error && <InUse error={removing.error} />}
					onConfirm={() => removing.mutate()}
					onClose={() => setDeleting(false)}
				>
					<p>{remove.text}</p>
				</Confirm>
			)}
		</Dialog>
	);
}
