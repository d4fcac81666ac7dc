import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useDisabledReason } from "../../../base/session";
import { catalogue } from "../../../base/words/catalogue";
import type { Versioned } from "../../../api/client";
import type { ContentBody, MessageSession } from "../../../api/schema";
import { Button } from "../../../ui/Button";
import { Callout } from "../../../ui/Page";
import { Failure, Skeleton } from "../../../ui/States";
import { begins } from "../../library/content";
import { entryQuery } from "../../library/queries";
import { useEntryDraft } from "../../library/useEntryDraft";
import { useEntryEditor } from "../../library/useEntryEditor";
import { useVersions } from "../../library/versions";
import type { View } from "../flowView";
import type { Step } from "../graph";
import { SidePanel } from "../SidePanel";
import { versionOf } from "./mailOfStep";
import { touched } from "./touched";

const words = catalogue("sequences.mail.editMail", {
	title: "Email",
	back: "Back to the step",
	pinned:
		"This step sends version {version}. You change the newest version: the step keeps sending version {version} until another one is chosen in its settings.",
});

type Props = {
	id: string;
	view: View;
	step: Step;
	sequence: string;
	/** What a mail begins with that has no version yet. */
	beginning?: ContentBody;
	onSaved: () => void;
	onClose: () => void;
};

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

function Form({
	server,
	view,
	step,
	sequence,
	beginning,
	onSaved,
	onClose,
}: Props & { server: Versioned<MessageSession> }) {
	const entry = server.data;
	const disabledReason = useDisabledReason("PATCH /messages/{id}");
	const draft = useEntryDraft(server, disabledReason !== undefined, beginning && begins(beginning));
	const [focus] = useState({});
	const version = versionOf(step.config);
	const [isReviewed, setReviewed] = useState(false);
	const versions = useVersions(entry.id, isReviewed).data?.data ?? [];
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
		onReview: () => setReviewed(true),
		onSaved: () => {
			onSaved();
			onClose();
		},
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
			{version !== undefined && <Callout tone="warning">{words.pinned({ version })}</Callout>}
			{editor.notices}
			{editor.content}
		</SidePanel>
	);
}
