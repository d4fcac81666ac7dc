import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, newKey } from "../../../api/client";
import type { ContentBody } from "../../../api/schema";
import { within } from "../../../base/queries";
import { useDisabledReason } from "../../../base/session";
import { catalogue } from "../../../base/words/catalogue";
import { Button } from "../../../ui/Button";
import { Combo } from "../../../ui/Combo";
import { Radios, TextField } from "../../../ui/Field";
import { FormProblems } from "../../../ui/FormProblems";
import { useForm } from "../../../ui/form";
import { Failure, Skeleton } from "../../../ui/States";
import { Thumb } from "../../../ui/Thumb";
import { templateOptions } from "../../binding/binding";
import { thumbnailQuery } from "../../binding/queries";
import { TokenField } from "../../binding/Tokens";
import { sourcePreviewQuery } from "../../source/queries";
import { newMjml } from "../../templates/blankMjml";
import { aboutOf, createFromStarter, useStarters } from "../../templates/fromStarter";
import { templateNamesQuery } from "../../templates/queries";
import { SidePanel } from "../SidePanel";
import { type Beginning, blank, chosenStarter, nameOf, pictureOf, withSubject } from "./beginning";
import css from "./Mail.module.css";

const words = catalogue("sequences.mail.newMail", {
	title: "New email",
	name: "Name",
	nameHelp: "The library shows the email under this name. If empty, the subject.",
	subject: "Subject",
	begin: "Begin with",
	starter: "A finished email with sample text",
	own: "An empty email in the brand",
	template: "A template",
	which: "Template",
	whichStarter: "Finished email",
	picture: "Preview of what the email begins with",
	create: "Create and write",
	back: "Back to the step",
	noStarter: "The finished emails have not loaded yet.",
	noTemplate: "Choose a template.",
});

type Props = {
	/** Called with the id of the entry, and its content if that has to be completed before it can be saved. */
	onCreated: (id: string, content?: ContentBody) => void;
	onClose: () => void;
};

/** NewMail makes an entry of the library for a step: its name, its subject and what it begins with. */
export default function NewMail({ onCreated, onClose }: Props) {
	const client = useQueryClient();
	const form = useForm(blank);
	const { kind, of } = form.values;
	const [focus] = useState({});
	const [idempotencyKey, setIdempotencyKey] = useState(newKey);
	const readStarters = useStarters();
	const starters = readStarters.data?.data ?? [];
	const templates = useQuery({ ...templateNamesQuery(), enabled: kind === "template" });
	const starter = kind === "starter" ? chosenStarter(starters, of) : undefined;
	const template = kind === "template" ? templates.data?.data.find(({ slug }) => slug === of) : undefined;
	const shown = useQuery(
		sourcePreviewQuery(
			"template",
			`starter ${starter?.slug}`,
			starter ? JSON.stringify({ source: pictureOf(starter) }) : "",
		),
	);
	const thumb = useQuery({
		...thumbnailQuery("template", template?.slug ?? "", template?.updated_at),
		enabled: template !== undefined,
	});
	const createDisabledReason = useDisabledReason("POST /messages");
	const templateDisabledReason = useDisabledReason("POST /templates");
	const disabledReason =
		createDisabledReason ??
		(kind === "starter" ? templateDisabledReason : undefined) ??
		(kind === "starter" && !starter ? words.noStarter : undefined) ??
		(kind === "template" && !template ? words.noTemplate : undefined);
	const beginning = async (): Promise<ContentBody> => {
		if (starter) {
			const content = await createFromStarter(starter);
			void client.invalidateQueries(within("templates"));
			return content;
		}
		if (template) return { template_slug: template.slug, template_binding: {} };
		return { body_mjml: await newMjml(client) };
	};
	const create = () =>
		form.submit(async () => {
			try {
				const content = withSubject(await beginning(), form.values);
				const name = nameOf(form.values, starter?.name ?? template?.name ?? words.title);
				const make = (body: object, key: string) =>
					api("POST /messages", { body: { name, ...body }, idempotencyKey: key });
				// What has no subject yet, or values that its template asks for, is completed where it is written.
				const [{ id }, rest] =
					content.template_slug || content.subject
						? await make({ content }, idempotencyKey).then(
								(created) => [created, undefined] as const,
								async (error) => {
									if (!(error instanceof ApiError) || error.status !== 400) throw error;
									return [await make({}, newKey()), content] as const;
								},
							)
						: [await make({}, idempotencyKey), content];
				await client.invalidateQueries(within("messages"));
				onCreated(id, rest);
			} catch (error) {
				if (error instanceof ApiError && error.status !== 0) setIdempotencyKey(newKey());
				throw error;
			}
		});
	const html = template ? thumb.data : starter && shown.data?.html;
	return (
		<SidePanel
			wide
			title={words.title}
			focus={focus}
			onClose={onClose}
			footer={
				<>
					<Button onClick={onClose}>{words.back}</Button>
					<Button variant="primary" busy={form.busy} disabledReason={disabledReason} onClick={() => void create()}>
						{words.create}
					</Button>
				</>
			}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				optional
				help={words.nameHelp}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
			/>
			<TokenField
				label={words.subject}
				optional
				path="subject"
				value={form.values.subject}
				onChange={(subject) => form.set({ subject })}
			/>
			<div className={css.begin}>
				<div className={css.choices}>
					<Radios
						label={words.begin}
						value={kind}
						onChange={(value) => form.set({ kind: value as Beginning["kind"], of: null })}
						choices={[
							{ value: "starter", label: words.starter },
							{ value: "template", label: words.template },
							{ value: "own", label: words.own },
						]}
					/>
					{kind === "starter" && readStarters.isPending && <Skeleton rows={6} height={32} />}
					{kind === "starter" && readStarters.isError && !readStarters.data && (
						<Failure error={readStarters.error} retry={() => void readStarters.refetch()} />
					)}
					{kind === "starter" && starters.length > 0 && (
						<Radios
							label={words.whichStarter}
							value={starter?.slug ?? ""}
							onChange={(of) => form.set({ of })}
							choices={starters.map((choice) => ({ value: choice.slug, label: choice.name, help: aboutOf(choice) }))}
						/>
					)}
					{kind === "template" && (
						<Combo
							label={words.which}
							options={templateOptions(templates.data?.data, undefined)}
							loading={templates.isPending}
							value={of}
							onChange={(of) => form.set({ of })}
						/>
					)}
					{kind === "template" && templates.isError && !templates.data && (
						<Failure error={templates.error} retry={() => void templates.refetch()} />
					)}
				</div>
				{kind !== "own" && <Thumb html={html ?? null} label={words.picture} width={320} height={440} />}
			</div>
		</SidePanel>
	);
}
