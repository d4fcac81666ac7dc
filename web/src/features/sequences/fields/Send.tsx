import { useQuery } from "@tanstack/react-query";
import { useRouter } from "wouter";
import { useCollection } from "../../../base/collections";
import { Combo, Picks } from "../../../ui/Combo";
import { Checkbox, Columns, Select, TextField } from "../../../ui/Field";
import { MailFrame } from "../../../ui/MailFrame";
import { Skeleton } from "../../../ui/States";
import { explain } from "../../../base/words/errors";
import css from "../StepFields.module.css";
import { daysWords } from "../steps";
import { words } from "./words";
import { type Part, textOf, choicesOf, optionsOf } from "./props";
import { Days } from "./When";
import { entryPreviewQuery } from "../../library/queries";
import { to } from "../../../base/paths";

/** Send edits which mail is sent, by whom and when. */
export function Send({ config, names, set, problem }: Part) {
	const { base } = useRouter();
	const message = textOf(config.message_id);
	const version = typeof config.version === "number" ? config.version : undefined;
	const messages = useCollection("messages");
	const senders = useCollection("sending_identities");
	const lanes = useCollection("mta_configs");
	const preview = useQuery({ ...entryPreviewQuery(message, version), enabled: message !== "" });
	const rows = messages.data?.data ?? [];
	const selected = rows.find((m) => m.id === message);
	const window = config.send_window as
		| { days: number[]; start: string; end: string; timezone: "contact" | "account" }
		| undefined;
	const identities = Array.isArray(config.sending_identity_emails) ? (config.sending_identity_emails as string[]) : [];
	return (
		<>
			<Combo
				label={words.mail}
				path="message_id"
				options={rows
					.filter((m) => m.status !== "archived" || m.id === message)
					.map((message) => ({ id: message.id, label: message.name, detail: message.tags.join(", ") }))}
				value={message || null}
				onChange={(id) => set({ message_id: id ?? undefined, version: undefined })}
				error={problem("message_id")}
			/>
			<p className={css.help}>
				{messages.data && rows.length === 0 && words.noMail}{" "}
				<a href={`${base}${to.library({ new: "1" })}`} target="_blank" rel="noreferrer">
					{words.writeMail}
				</a>{" "}
				{words.writeMailHelp}
			</p>
			{message && (
				<section aria-label={words.preview} className={css.preview}>
					{preview.isPending && <Skeleton rows={4} />}
					{preview.isError && <p>{explain(preview.error)}</p>}
					{preview.data && (
						<>
							<p>
								<b>{preview.data.subject}</b>
							</p>
							<MailFrame html={preview.data.html} text={preview.data.text} size={preview.data.size} />
						</>
					)}
				</section>
			)}
			<Columns>
				<Combo
					label={words.type}
					help={words.typeHelp}
					path="email_type_key"
					options={optionsOf(names.types)}
					value={textOf(config.email_type_key) || null}
					onChange={(value) => set({ email_type_key: value ?? undefined })}
					error={problem("email_type_key")}
				/>
				<Select
					label={words.version}
					value={version ? String(version) : ""}
					onChange={(value) => set({ version: value ? Number(value) : undefined })}
					error={problem("version")}
					choices={[
						{ value: "", label: words.current },
						...Array.from({ length: selected?.current_version ?? version ?? 0 }, (_, i) => ({
							value: String(i + 1),
							label: words.versionOf({ number: i + 1 }),
						})).reverse(),
					]}
				/>
			</Columns>
			<Picks
				label={words.senders}
				help={words.sendersHelp}
				options={(senders.data?.data ?? [])
					.filter((sender) => sender.active || identities.includes(sender.email_address))
					.map((sender) => ({ id: sender.email_address, label: sender.email_address, detail: sender.display_name }))}
				values={identities}
				onChange={(value) => set({ sending_identity_emails: value.length > 0 ? value : undefined })}
				error={problem("sending_identity_emails")}
			/>
			<Columns>
				<TextField
					label={words.fromName}
					optional
					value={textOf(config.from_name)}
					onChange={(value) => set({ from_name: value || undefined })}
					error={problem("from_name")}
				/>
				<TextField
					label={words.replyTo}
					optional
					type="email"
					value={textOf(config.reply_to)}
					onChange={(value) => set({ reply_to: value || undefined })}
					error={problem("reply_to")}
				/>
			</Columns>
			<Select
				label={words.mta}
				help={words.mtaHelp}
				value={textOf(config.mta_config_key)}
				onChange={(value) => set({ mta_config_key: value || undefined })}
				error={problem("mta_config_key")}
				choices={[
					{ value: "", label: "–" },
					...(lanes.data?.data ?? []).map((lane) => ({ value: lane.key, label: lane.name })),
				]}
			/>
			<Checkbox
				label={words.tracking}
				checked={config.tracking_enabled !== false}
				onChange={(checked) => set({ tracking_enabled: checked ? undefined : false })}
			/>
			<Checkbox
				label={words.windowed}
				help={words.windowHelp}
				checked={window !== undefined}
				onChange={(checked) =>
					set({
						send_window: checked
							? { days: [1, 2, 3, 4, 5], start: "09:00", end: "17:00", timezone: "contact" }
							: undefined,
					})
				}
			/>
			{window && (
				<div className={css.group}>
					<p>
						{words.windowSentence({
							days: daysWords(window.days),
							start: window.start,
							end: window.end,
							zone: words.zones[window.timezone] ?? "",
						})}
					</p>
					<Days value={window.days} onChange={(days) => set({ send_window: { ...window, days } })} />
					<Columns>
						<TextField
							label={words.from}
							type="time"
							value={window.start}
							onChange={(start) => set({ send_window: { ...window, start } })}
							error={problem("send_window.start")}
						/>
						<TextField
							label={words.to}
							type="time"
							value={window.end === "24:00" ? "00:00" : window.end}
							onChange={(end) => set({ send_window: { ...window, end: end === "00:00" ? "24:00" : end } })}
							error={problem("send_window")}
						/>
						<Select
							label={words.zone}
							value={window.timezone}
							onChange={(timezone) => set({ send_window: { ...window, timezone } })}
							choices={choicesOf(words.zones)}
						/>
					</Columns>
				</div>
			)}
		</>
	);
}
