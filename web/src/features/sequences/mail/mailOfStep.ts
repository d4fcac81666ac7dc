import type { Config } from "../graph";

// The mail that a step sends: an entry of the library and, unless it is the newest, one of its versions.

/** mailOf returns the id of the mail; empty if none is chosen. */
export const mailOf = (config: Config) => (typeof config.message_id === "string" ? config.message_id : "");

/** versionOf returns the version that is sent whatever comes after it. */
export const versionOf = (config: Config) => (typeof config.version === "number" ? config.version : undefined);

const without = (config: Config, ...names: string[]): Config =>
	Object.fromEntries(Object.entries(config).filter(([name]) => !names.includes(name)));

/** withMail sends another mail: the newest version of it, since versions are those of a mail. */
export const withMail = (config: Config, id: string | null): Config =>
	id === mailOf(config)
		? config
		: { ...without(config, "message_id", "version"), ...(id === null ? {} : { message_id: id }) };

/** withVersion sends a version of the mail; undefined for the newest. */
export const withVersion = (config: Config, version: number | undefined): Config => ({
	...without(config, "version"),
	...(version === undefined ? {} : { version }),
});
