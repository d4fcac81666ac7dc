import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../../api/client";
import type { ContentBody } from "../../../api/schema";
import { within } from "../../../base/queries";
import { useDisabledReason } from "../../../base/session";
import { catalogue } from "../../../base/words/catalogue";
import { Button } from "../../../ui/Button";
import { Combo } from "../../../ui/Combo";
import { Radios, TextField } from "../../../ui/Field";
import { FormProblems } from "../../../ui/FormProblems";
import { useForm } from "../../../ui/form";
import { newMjml } from "../../templates/blankMjml";
import { templateNamesQuery } from "../../templates/queries";
import { templateOptions } from "../../binding/binding";
import { SidePanel } from "../SidePanel";

const words = catalogue("sequences.mail.newMail", {
	title: "New email",
	name: "Name",
	nameHelp: "The library shows the email under this name.",
	subject: "Subject",
	begin: "Begin with",
	own: "An empty email in the brand",
	template: "A template",
	which: "Template",
	create: "Create and write",
	back: "Back to the step",
	noTemplate: "Choose a template.",
});

type Props = {
	onCreated: (id: string) => void;
	onClose: () => void;
};

/** NewMail makes an entry of the library for a step. */
export default function NewMail({ onCreated, onClose }: Props) {
	const client = useQueryClient();
	const form = useForm({ name: "", subject: "" });
	const [begin, setBegin] = useState<"own" | "template">("own");
	const [template, setTemplate] = useState<string | null>(null);
	const [focus] = useState({});
	const templates = useQuery(templateNamesQuery());
	const disabledReason = useDisabledReason("POST /messages");
	const create = () =>
		form.submit(async () => {
			const { name, subject } = form.values;
			const content: ContentBody =
				begin === "template" && template
					? { subject: subject || null, template_slug: template, template_binding: {} }
					: { subject: subject || null, body_mjml: await newMjml(client) };
			const created = await api("POST /messages", { body: { name, content }, idempotencyKey: newKey() });
			void client.invalidateQueries(within("messages"));
			onCreated(created.id);
		});
	return (
		<SidePanel
			title={words.title}
			focus={focus}
			onClose={onClose}
			footer={
				<>
					<Button onClick={onClose}>{words.back}</Button>
					<Button
						variant="primary"
						busy={form.busy}
						disabledReason={disabledReason ?? (begin === "template" && !template ? words.noTemplate : undefined)}
						onClick={() => void create()}
					>
						{words.create}
					</Button>
				</>
			}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				help={words.nameHelp}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
			/>
			<TextField
				label={words.subject}
				path="content.subject"
				value={form.values.subject}
				onChange={(subject) => form.set({ subject })}
				error={form.problems.byPath["content.subject"]}
			/>
			<Radios
				label={words.begin}
				value={begin}
				onChange={(value) => setBegin(value as "own" | "template")}
				choices={[
					{ value: "own", label: words.own },
					{ value: "template", label: words.template },
				]}
			/>
			{begin === "template" && (
				<Combo
					label={words.which}
					options={templateOptions(templates.data?.data, undefined)}
					loading={templates.isPending}
					value={template}
					onChange={setTemplate}
				/>
			)}
		</SidePanel>
	);
}
