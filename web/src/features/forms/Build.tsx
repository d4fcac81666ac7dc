import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api } from "../../api/client";
import { useCollection } from "../../base/collections";
import { Button } from "../../ui/Button";
import { Combo, Picks } from "../../ui/Combo";
import { Columns, Radios, Select, Switch, TextArea, TextField } from "../../ui/Field";
import { Card, Callout } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { type FormWork, linesOf, previewBody } from "./draft";
import { Fields } from "./Fields";
import css from "./Form.module.css";
import { Preview } from "./Preview";
import { formPreviewQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("forms.build", {
	fields: "Fields",
	fieldsAbout:
		"Exactly one field is for the email address. Consent is a separate checkbox that visitors tick themselves.",
	button: "Button text",
	name: "Internal name",
	after: "After submitting",
	mode: "The visitor sees",
	message: "A message instead of the form",
	redirect: "Another page",
	success: "Message",
	successDouble:
		"Shown only if double opt-in is off. With double opt-in, visitors are asked in their language to check their email and confirm.",
	url: "Page URL",
	optIn: "Confirmation",
	double: "Ask visitors to confirm their address by email (double opt-in)",
	doubleHelp: "New contacts get no other email until they have confirmed. The link is valid for seven days.",
	mail: "Confirmation email",
	builtIn: "Built-in email, in the language of this workspace",
	mailHelp: "A library entry that contains '{{ subscribe_confirm_url }}'.",
	confirmURL: "After confirming, go to",
	confirmHelp: "If empty, a built-in page says thank you.",
	contact: "What happens to the contact",
	lists: "Add to lists",
	tags: "Add tags",
	tagsHelp: "Separated by commas.",
	stage: "Set stage",
	noStage: "Default for new contacts",
	where: "Allowed websites",
	origins: "Websites",
	originsHelp: "One per line, such as https://www.example.com. If empty, every website may use the form.",
	originBad: "{text} is not a website address. Enter https:// and the host, without a path.",
	captcha: "Captcha",
	none: "None: a hidden field and a timer stop most bots",
	siteKey: "Site key",
	secretKey: "Secret key",
	secretHelp: "Stored and never shown again. Leave empty to keep it.",
	store: "Store",
	stored: "Secret key stored.",
	preview: "Preview",
});

/** invalidOrigin returns the first line that is not the origin of a website. */
function invalidOrigin(text: string): string | undefined {
	return linesOf(text).find((line) => {
		try {
			const url = new URL(line);
			return (
				!/^https?:$/.test(url.protocol) ||
				url.pathname.replace("/", "") !== "" ||
				url.search !== "" ||
				url.hash !== "" ||
				url.hostname.includes("*") ||
				url.username !== ""
			);
		} catch {
			return true;
		}
	});
}

/** Build edits a form beside its preview. */
export function Build({ work, disabledReason }: { work: FormWork; disabledReason?: string }) {
	const { values, set, problem, form } = work;
	const shown = useDebounced(JSON.stringify(previewBody(values)), 350);
	const embed = useQuery(formPreviewQuery(form.id, shown));
	const segments = useCollection("segments");
	const stages = useCollection("stages");
	const messages = useCollection("messages", { enabled: values.double_opt_in });
	const published = (messages.data?.data ?? []).filter((message) => message.status === "published");
	const lists = (segments.data?.data ?? []).filter(
		(segment) => segment.type === "static" && segment.system_key === null,
	);
	const originProblem = invalidOrigin(values.allowed_origins);
	const entry = messages.data?.data.find((message) => message.id === values.confirm_message_id);
	return (
		<div className={css.builder}>
			<fieldset className={css.left} disabled={disabledReason !== undefined}>
				<legend className="visually-hidden">{form.name}</legend>
				<Card>
					<TextField
						label={words.name}
						path="name"
						maxLength={200}
						value={values.name}
						onChange={(name) => set({ name })}
						error={problem("name")}
					/>
				</Card>
				<Card title={words.fields}>
					<p className={css.muted}>{words.fieldsAbout}</p>
					{problem("fields") &&
						values.fields.length > 0 &&
						!work.problems.some((problem) => problem.path.startsWith("fields[")) && (
							<Callout tone="danger">{problem("fields")}</Callout>
						)}
					<Fields
						fields={values.fields}
						onChange={(fields) => set({ fields })}
						problem={problem}
						readOnly={disabledReason !== undefined}
					/>
					<TextField
						label={words.button}
						path="submit_label"
						maxLength={100}
						value={values.submit_label}
						onChange={(submit_label) => set({ submit_label })}
						error={problem("submit_label")}
					/>
				</Card>
				<Card title={words.after}>
					<Radios
						label={words.mode}
						value={values.success_mode}
						onChange={(success_mode) => set({ success_mode })}
						choices={[
							{ value: "message", label: words.message },
							{ value: "redirect", label: words.redirect },
						]}
					/>
					{values.success_mode === "message" ? (
						<TextArea
							label={words.success}
							help={values.double_opt_in ? words.successDouble : undefined}
							rows={2}
							path="success_message"
							value={values.success_message}
							onChange={(success_message) => set({ success_message })}
							error={problem("success_message")}
						/>
					) : (
						<TextField
							label={words.url}
							type="url"
							path="redirect_url"
							value={values.redirect_url}
							onChange={(redirect_url) => set({ redirect_url })}
							error={problem("redirect_url")}
						/>
					)}
				</Card>
				<Card title={words.optIn}>
					<Switch
						label={words.double}
						help={words.doubleHelp}
						checked={values.double_opt_in}
						onChange={(double_opt_in) => set({ double_opt_in })}
						path="double_opt_in"
					/>
					{problem("double_opt_in") && <Callout tone="danger">{problem("double_opt_in")}</Callout>}
					{values.double_opt_in && (
						<>
							<Combo
								label={words.mail}
								help={words.mailHelp}
								path="confirm_message_id"
								value={values.confirm_message_id || "built-in"}
								onChange={(id) => set({ confirm_message_id: !id || id === "built-in" ? "" : id })}
								options={[
									{ id: "built-in", label: words.builtIn },
									...published.map((message) => ({ id: message.id, label: message.name })),
								]}
								error={problem("confirm_message_id")}
							/>
							{entry && <Link href={to.entry(entry.id)}>{entry.name}</Link>}
							<TextField
								label={words.confirmURL}
								optional
								type="url"
								help={words.confirmHelp}
								path="confirm_redirect_url"
								value={values.confirm_redirect_url}
								onChange={(confirm_redirect_url) => set({ confirm_redirect_url })}
								error={problem("confirm_redirect_url")}
							/>
						</>
					)}
				</Card>
				<Card title={words.contact}>
					<Picks
						label={words.lists}
						path="list_segment_keys"
						options={lists.map((list) => ({ id: list.segment_key, label: list.name }))}
						values={values.list_segment_keys}
						onChange={(list_segment_keys) => set({ list_segment_keys })}
						error={problem("list_segment_keys")}
					/>
					<Columns>
						<Tags value={values.tags} onChange={(tags) => set({ tags })} error={problem("tags")} />
						<Select
							label={words.stage}
							path="stage_id"
							value={values.stage_id}
							onChange={(stage_id) => set({ stage_id })}
							choices={[
								{ value: "", label: words.noStage },
								...(stages.data?.data ?? []).map((stage) => ({ value: stage.id, label: stage.name })),
							]}
							error={problem("stage_id")}
						/>
					</Columns>
				</Card>
				<Card title={words.where}>
					<TextArea
						code
						rows={3}
						label={words.origins}
						help={words.originsHelp}
						path="allowed_origins"
						value={values.allowed_origins}
						onChange={(allowed_origins) => set({ allowed_origins })}
						error={originProblem ? words.originBad({ text: originProblem }) : problem("allowed_origins")}
						spellCheck={false}
					/>
					<Select
						label={words.captcha}
						path="captcha.provider"
						value={values.captcha_provider}
						onChange={(captcha_provider) => set({ captcha_provider })}
						choices={[
							{ value: "none", label: words.none },
							{ value: "turnstile", label: "Cloudflare Turnstile" },
							{ value: "hcaptcha", label: "hCaptcha" },
						]}
						error={problem("captcha.provider")}
					/>
					{values.captcha_provider !== "none" && (
						<Columns>
							<TextField
								label={words.siteKey}
								path="captcha.site_key"
								value={values.captcha_site_key}
								onChange={(captcha_site_key) => set({ captcha_site_key })}
								error={problem("captcha.site_key")}
								autoComplete="off"
							/>
							<CaptchaSecret work={work} />
						</Columns>
					)}
				</Card>
			</fieldset>
			<section className={css.right} aria-label={words.preview}>
				<h2>{words.preview}</h2>
				{embed.isPending ? (
					<Skeleton rows={6} />
				) : embed.isError && !embed.data ? (
					<Failure error={embed.error} retry={() => void embed.refetch()} />
				) : (
					<Preview
						html={embed.data.html}
						success={values.success_message}
						redirect={values.success_mode === "redirect" ? values.redirect_url : null}
						doubleOptIn={values.double_opt_in}
					/>
				)}
			</section>
		</div>
	);
}

/** Tags are typed as one text, so that commas can be typed. */
function Tags({ value, onChange, error }: { value: string[]; onChange: (tags: string[]) => void; error?: string }) {
	const [text, setText] = useState(value.join(", "));
	const split = (text: string) => [
		...new Set(
			text
				.split(",")
				.map((part) => part.trim())
				.filter(Boolean),
		),
	];
	const shown = JSON.stringify(split(text)) === JSON.stringify(value) ? text : value.join(", ");
	return (
		<TextField
			label={words.tags}
			optional
			help={words.tagsHelp}
			path="tags"
			value={shown}
			onChange={(value) => {
				setText(value);
				onChange(split(value));
			}}
			error={error}
		/>
	);
}

/** CaptchaSecret stores the secret key, which is not part of what is drafted. */
function CaptchaSecret({ work }: { work: FormWork }) {
	const [secret, setSecret] = useState("");
	const [problem, setProblem] = useState<string>();
	const [busy, setBusy] = useState(false);
	const store = async () => {
		setBusy(true);
		setProblem(undefined);
		try {
			await work.save();
			await api("PUT /forms/{id}", { path: { id: work.form.id }, body: { captcha: { secret_key: secret } } });
			setSecret("");
			toast(words.stored);
		} catch (error) {
			setProblem(explain(error));
		} finally {
			setBusy(false);
		}
	};
	return (
		<div className={css.secret}>
			<TextField
				label={words.secretKey}
				type="password"
				path="captcha.secret_key"
				help={words.secretHelp}
				value={secret}
				onChange={setSecret}
				error={problem ?? work.problem("captcha.secret_key")}
				autoComplete="new-password"
			/>
			<Button busy={busy} disabledReason={secret ? undefined : words.secretHelp} onClick={() => void store()}>
				{words.store}
			</Button>
		</div>
	);
}
