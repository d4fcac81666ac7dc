import type { ReactNode } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Columns, Select } from "../../ui/Field";
import css from "./Mta.module.css";
import { fill, hints, placeChoices, providerChoices, type ProviderKey, providerOf } from "./relayProviders";
import type { MtaValues } from "./mtaValues";

const words = catalogue("sending.relayFields", {
	provider: "Provider",
	place: "Server",
	host: "Host",
	port: "Port",
	tls: "Encryption",
	tlsKinds: { starttls: "STARTTLS", implicit: "TLS", none: "None" },
	auth: "Authentication",
	authKinds: { none: "None", plain: "PLAIN", login: "LOGIN", cram_md5: "CRAM-MD5" },
	username: "Username",
	password: "Password",
	unchanged: "Set. Leave empty to keep it.",
	again: "Enter it again, because the host, port, encryption or username changes.",
});

/** relayNames are the names of the fields, for what the server and others say about them. */
export const relayNames = () => ({
	"settings.host": words.host,
	"settings.port": words.port,
	"settings.tls": words.tls,
	"settings.auth": words.auth,
	"settings.username": words.username,
});

type Props = {
	values: MtaValues;
	problems: { [path: string]: string };
	field: (
		name: keyof MtaValues,
		label: string,
		more?: { type?: string; help?: string; optional?: boolean },
	) => ReactNode;
	/** The settings that are stored, if any. */
	stored: { [name: string]: unknown };
	onChange: (changes: Partial<MtaValues>) => void;
};

/** RelayFields are the fields of a connection to a relay. A provider fills in what is the same for everybody. */
export function RelayFields({ values, problems, field, stored, onChange }: Props) {
	const provider = providerOf(values["settings.host"]);
	const hint = hints(provider);
	/** Whether the stored password would be sent to another server, or in another way, which the server refuses. */
	const serverChanged = (["host", "port", "tls", "username"] as const).some(
		(name) => values[`settings.${name}`].trim() !== String(stored[name] ?? ""),
	);
	const kept = stored.has_password ? (serverChanged ? words.again : words.unchanged) : undefined;
	const places = provider === "other" ? [] : placeChoices(provider);
	return (
		<>
			<Columns>
				<Select
					label={words.provider}
					value={provider}
					onChange={(key) => onChange(fill(key as ProviderKey | "other", values))}
					choices={providerChoices()}
				/>
				{places.length > 1 && (
					<Select
						label={words.place}
						value={values["settings.host"].trim().toLowerCase()}
						onChange={(host) => onChange({ "settings.host": host })}
						choices={places}
					/>
				)}
			</Columns>
			{hint.limits && <p className={css.muted}>{hint.limits}</p>}
			<Columns>
				{field("settings.host", words.host)}
				{field("settings.port", words.port, { type: "number" })}
				<Select
					label={words.tls}
					value={values["settings.tls"]}
					onChange={(value) => onChange({ "settings.tls": value })}
					choices={Object.entries(words.tlsKinds).map(([value, label]) => ({ value, label }))}
					error={problems["settings.tls"]}
				/>
				<Select
					label={words.auth}
					value={values["settings.auth"]}
					onChange={(value) => onChange({ "settings.auth": value })}
					choices={Object.entries(words.authKinds).map(([value, label]) => ({ value, label }))}
					error={problems["settings.auth"]}
				/>
			</Columns>
			{values["settings.auth"] !== "none" && (
				<Columns>
					{field("settings.username", words.username, { help: hint.username })}
					{field("settings.password", words.password, {
						type: "password",
						help: [kept, hint.password].filter(Boolean).join(" ") || undefined,
					})}
				</Columns>
			)}
		</>
	);
}
