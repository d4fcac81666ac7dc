import { useState } from "react";
import { useCollection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import { Checkbox, Columns, Radios, Select, TextField } from "../../ui/Field";
import { Card } from "../../ui/Page";
import type { Settings } from "./report";

const words = catalogue("imports.settings", {
	options: "Options",
	mode: "Rows with known addresses",
	upsert: "Update existing contacts, create new ones",
	create: "Skip existing contacts, create new ones",
	update: "Update existing contacts, skip new ones",
	blank: "Empty cells clear the field",
	strict: "Skip rows with a value that does not fit its field",
	strictHelp: "Otherwise such a row is imported without the value.",
	list: "Add everybody to a list",
	noList: "No list",
	tags: "Tags for everybody",
	tagsHelp: "Separated by commas. A tag for this import makes its people easy to find.",
	consent:
		"An import never resubscribes people who unsubscribed, and it keeps statuses in the file other than active. Import only people who agreed to get your email.",
});

/** SettingsFields are the options of an import that are not about its columns. */
export function SettingsFields({ settings, onChange }: { settings: Settings; onChange: (settings: Settings) => void }) {
	const segments = useCollection("segments");
	const [tags, setTags] = useState(settings.tags.join(", "));
	return (
		<Card title={words.options}>
			<Radios
				label={words.mode}
				value={settings.mode}
				onChange={(mode) => onChange({ ...settings, mode: mode as Settings["mode"] })}
				choices={(["upsert", "create", "update"] as const).map((mode) => ({ value: mode, label: words[mode] }))}
			/>
			<Checkbox
				label={words.blank}
				checked={settings.update_blank}
				onChange={(update_blank) => onChange({ ...settings, update_blank })}
			/>
			<Checkbox
				label={words.strict}
				help={words.strictHelp}
				checked={settings.strict}
				onChange={(strict) => onChange({ ...settings, strict })}
			/>
			<Columns>
				<Select
					label={words.list}
					value={settings.segment_key ?? ""}
					onChange={(key) => onChange({ ...settings, segment_key: key || null })}
					choices={[
						{ value: "", label: words.noList },
						...(segments.data?.data ?? [])
							.filter((segment) => segment.type === "static")
							.map((segment) => ({ value: segment.segment_key, label: segment.name })),
					]}
				/>
				<TextField
					label={words.tags}
					help={words.tagsHelp}
					value={tags}
					onChange={(text) => {
						setTags(text);
						onChange({
							...settings,
							tags: text
								.split(",")
								.map((tag) => tag.trim())
								.filter(Boolean),
						});
					}}
				/>
			</Columns>
			<p>{words.consent}</p>
		</Card>
	);
}
