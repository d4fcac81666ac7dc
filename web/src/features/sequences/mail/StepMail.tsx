import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus } from "lucide-react";
import { Link } from "wouter";
import { useCollection } from "../../../base/collections";
import { to } from "../../../base/paths";
import { useDisabledReason } from "../../../base/session";
import { catalogue } from "../../../base/words/catalogue";
import { explain } from "../../../base/words/errors";
import { Button } from "../../../ui/Button";
import { Combo } from "../../../ui/Combo";
import { ImmediateErrors } from "../../../ui/errorVisibility";
import { Select } from "../../../ui/Field";
import { MailFrame } from "../../../ui/MailFrame";
import { Callout } from "../../../ui/Page";
import { Skeleton } from "../../../ui/States";
import { entryPreviewQuery } from "../../library/queries";
import type { Config } from "../graph";
import css from "./Mail.module.css";
import { mailOf, versionOf, withMail, withVersion } from "./mailOfStep";

const words = catalogue("sequences.mail.stepMail", {
	mail: "Library email",
	none: "The library is empty. Write the first email here.",
	write: "Write a new email",
	edit: "Edit email",
	library: "Open in library",
	preview: "Preview of the email",
	unwritten: "This email has no content yet. Edit it, and save a first version.",
	version: "Version",
	current: "Current version when it is sent",
	versionOf: "Version {number}",
	older: "This step sends version {version}. The newest is {newest}.",
	newest: "Send the newest",
});

type Props = {
	config: Config;
	editable: boolean;
	/** The problem of a field, by its path in the configuration. */
	problem: (path: string) => string | undefined;
	onChange: (config: Config) => void;
	/** Opens what writes a mail. */
	onWrite: (what: "new" | "edit") => void;
};

/** StepMail shows the mail of a step, and chooses another. */
export default function StepMail({ config, editable, problem, onChange, onWrite }: Props) {
	const id = mailOf(config);
	const version = versionOf(config);
	const messages = useCollection("messages");
	const rows = messages.data?.data ?? [];
	const selected = rows.find((message) => message.id === id);
	const newest = selected?.current_version ?? version ?? 0;
	const isEmpty = selected?.current_version === 0;
	const preview = useQuery({ ...entryPreviewQuery(id, version), enabled: id !== "" && !isEmpty });
	const writeDisabledReason = useDisabledReason("POST /messages");
	const editDisabledReason = useDisabledReason("PATCH /messages/{id}");
	return (
		<ImmediateErrors value={true}>
			{editable && (
				<Combo
					label={words.mail}
					path="message_id"
					options={rows
						.filter((message) => message.status !== "archived" || message.id === id)
						.map((message) => ({ id: message.id, label: message.name, detail: message.tags.join(", ") }))}
					value={id || null}
					onChange={(mail) => onChange(withMail(config, mail))}
					error={problem("message_id")}
					help={messages.data && rows.length === 0 && words.none}
				/>
			)}
			<div className={css.actions}>
				{id && (
					<Button
						small
						icon={<Pencil aria-hidden />}
						disabledReason={editDisabledReason}
						onClick={() => onWrite("edit")}
					>
						{words.edit}
					</Button>
				)}
				{editable && (
					<Button small icon={<Plus aria-hidden />} disabledReason={writeDisabledReason} onClick={() => onWrite("new")}>
						{words.write}
					</Button>
				)}
				{id && <Link href={to.entry(id)}>{words.library}</Link>}
			</div>
			{isEmpty && <Callout tone="warning">{words.unwritten}</Callout>}
			{version !== undefined && version < newest && (
				<Callout>
					<p>{words.older({ version, newest })}</p>
					{editable && (
						<Button small onClick={() => onChange(withVersion(config, undefined))}>
							{words.newest}
						</Button>
					)}
				</Callout>
			)}
			{id && !isEmpty && (
				<section aria-label={words.preview} className={css.picture}>
					{preview.isPending && <Skeleton rows={8} />}
					{preview.isError && <p>{explain(preview.error)}</p>}
					{preview.data && (
						<>
							<p>
								<b>{preview.data.subject}</b>
							</p>
							<MailFrame fill html={preview.data.html} text={preview.data.text} size={preview.data.size} />
						</>
					)}
				</section>
			)}
			{editable && id && !isEmpty && (
				<Select
					label={words.version}
					value={version ? String(version) : ""}
					onChange={(value) => onChange(withVersion(config, value ? Number(value) : undefined))}
					error={problem("version")}
					choices={[
						{ value: "", label: words.current },
						...Array.from({ length: newest }, (_, i) => ({
							value: String(i + 1),
							label: words.versionOf({ number: i + 1 }),
						})).reverse(),
					]}
				/>
			)}
		</ImmediateErrors>
	);
}
