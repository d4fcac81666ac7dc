import {
	Activity,
	Ban,
	BarChart3,
	Blocks,
	FileText,
	FormInput,
	Home,
	Layers,
	LibraryBig,
	type LucideIcon,
	Megaphone,
	Send,
	Settings,
	Users,
	Workflow,
	Zap,
} from "lucide-react";
import { type PageName, type patterns, to } from "../base/paths";
import { catalogue } from "../base/words/catalogue";

const words = catalogue("shell.navigation", {
	home: "Home",
	audience: "Audience",
	contacts: "Contacts",
	segments: "Segments",
	forms: "Forms",
	suppressions: "Suppressions",
	content: "Content",
	templates: "Templates",
	blocks: "Blocks",
	library: "Library",
	campaigns: "Sending",
	broadcasts: "Broadcasts",
	sequences: "Sequences",
	automations: "Automations",
	reporting: "Results",
	reports: "Reports",
	activity: "Activity",
	setup: "Setup",
	sending: "Sending setup",
	settings: "Settings",
});

/** ListPage is a page whose address names no record. */
export type ListPage = {
	[N in PageName]: (typeof patterns)[N] extends `${string}:${string}` ? never : N;
}[PageName];

export type Entry = { page: ListPage; to: string; name: string; icon: LucideIcon; shortcut?: string };
export type Group = { name?: string; entries: Entry[] };

const entry = (page: ListPage, name: string, icon: LucideIcon, shortcut?: string): Entry => ({
	page,
	to: to[page](),
	name,
	icon,
	shortcut,
});

/** navigation is what the rail shows. `go` is the key that opens an entry after g. */
export const navigation = (): Group[] => [
	{ entries: [entry("home", words.home, Home, "h")] },
	{
		name: words.audience,
		entries: [
			entry("contacts", words.contacts, Users, "c"),
			entry("segments", words.segments, Layers, "s"),
			entry("forms", words.forms, FormInput),
			entry("suppressions", words.suppressions, Ban),
		],
	},
	{
		name: words.content,
		entries: [
			entry("templates", words.templates, FileText, "t"),
			entry("blocks", words.blocks, Blocks),
			entry("library", words.library, LibraryBig),
		],
	},
	{
		name: words.campaigns,
		entries: [
			entry("broadcasts", words.broadcasts, Megaphone, "b"),
			entry("sequences", words.sequences, Workflow, "q"),
			entry("automations", words.automations, Zap, "a"),
		],
	},
	{
		name: words.reporting,
		entries: [entry("reports", words.reports, BarChart3, "r"), entry("activity", words.activity, Activity)],
	},
	{
		name: words.setup,
		entries: [entry("sending", words.sending, Send), entry("settings", words.settings, Settings)],
	},
];
