import { useCollection } from "../../../base/collections";
import { Combo, Picks } from "../../../ui/Combo";
import { Checkbox, Columns, Select, TextField } from "../../../ui/Field";
import css from "../StepFields.module.css";
import { daysWords } from "../steps";
import { words } from "./words";
import { type Part, textOf, choicesOf, optionsOf } from "./props";
import { Days } from "./When";

/** Send edits by whom a mail is sent, to whom and when. */
export function Send({ config, names, set, problem }: Part) {
	const senders = useCollection("sending_identities");
	const lanes = useCollection("mta_configs");
	const window = config.send_window as
		| { days: number[]; start: string; end: string; timezone: "contact" | "account" }
		| undefined;
	const identities = Array.isArray(config.sending_identity_emails) ? (config.sending_identity_emails as string[]) : [];
	return (
		<>
			<Combo
				label={words.type}
				help={words.typeHelp}
				path="email_type_key"
				options={optionsOf(names.types)}
				value={textOf(config.email_type_key) || null}
				onChange={(value) => set({ email_type_key: value ?? undefined })}
				error={problem("email_type_key")}
			/>
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
