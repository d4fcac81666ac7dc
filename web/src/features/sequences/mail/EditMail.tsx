import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useDisabledReason } from "../../../base/session";
import { catalogue } from "../../../base/words/catalogue";
import type { Versioned } from "../../../api/client";
import type { MessageSession } from "../../../api/schema";
import { Button } from "../../../ui/Button";
import { Failure, Skeleton } from "../../../ui/States";
import { entryQuery } from "../../library/queries";
import { useEntryDraft } from "../../library/useEntryDraft";
import { useEntryEditor } from "../../library/useEntryEditor";
import { useVersions } from "../../library/versions";
import type { View } from "../flowView";
import type { Step } from "../graph";
import { SidePanel } from "../SidePanel";
import { touched } from "./touched";

const words = catalogue("sequences.mail.editMail", { title: "Email", back: "Back to the step" });

type Props = { id: string; view: View; step: Step; sequence: string; onClose: () => void };

/** EditMail writes the next version of the mail of a step. */
export default function EditMail(props: Props) {
	const entry = useQuery(entryQuery(props.id));
	if (entry.data) return <Form {...props} server={entry.data} />;
	return (
		<SidePanel wide title={words.title} focus={null} onClose={props.onClose} footer={<Back onClose={props.onClose} />}>
			{entry.isError ? <Failure error={entry.error} retry={() => void entry.refetch()} /> : <Skeleton rows={12} />}
		</SidePanel>
	);
}

const Back = ({ onClose }: { onClose: () => void }) => <Button onClick={onClose}>{words.back}</Button>;

function Form({ server, view, step, sequence, onClose }: Props & { server: Versioned<MessageSession> }) {
	const entry = server.data;
	const disabledReason = useDisabledReason("PATCH /messages/{id}");
	const draft = useEntryDraft(server, disabledReason !== undefined);
	const [focus] = useState({});
	const versions = useVersions(entry.id, draft.state.changed.length > 0).data?.data ?? [];
	const editor = useEntryEditor({
		entry,
		draft,
		disabledReason,
		affected: touched(
			view.graph,
			step,
			sequence,
			versions.flatMap(({ usage }) => usage ?? []),
		),
		onSaved: onClose,
	});
	return (
		<SidePanel
			wide
			title={entry.name}
			focus={focus}
			onClose={onClose}
			footer={
				<>
					<Back onClose={onClose} />
					{editor.actions}
				</>
			}
		>
			{editor.notices}
			{editor.content}
		</SidePanel>
	);
}
