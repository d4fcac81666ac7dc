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

export type Entry = { to: string; name: string; icon: LucideIcon; go?: string };
export type Group = { name?: string; entries: Entry[] };

/** navigation is what the rail shows. `go` is the key that opens an entry after g. */
export const navigation = (): Group[] => [
	{ entries: [{ to: "/", name: words.home, icon: Home, go: "h" }] },
	{
		name: words.audience,
		entries: [
			{ to: "/contacts", name: words.contacts, icon: Users, go: "c" },
			{ to: "/segments", name: words.segments, icon: Layers, go: "s" },
			{ to: "/forms", name: words.forms, icon: FormInput },
			{ to: "/suppressions", name: words.suppressions, icon: Ban },
		],
	},
	{
		name: words.content,
		entries: [
			{ to: "/templates", name: words.templates, icon: FileText, go: "t" },
			{ to: "/blocks", name: words.blocks, icon: Blocks },
			{ to: "/library", name: words.library, icon: LibraryBig },
		],
	},
	{
		name: words.campaigns,
		entries: [
			{ to: "/broadcasts", name: words.broadcasts, icon: Megaphone, go: "b" },
			{ to: "/sequences", name: words.sequences, icon: Workflow, go: "q" },
			{ to: "/automations", name: words.automations, icon: Zap, go: "a" },
		],
	},
	{
		name: words.reporting,
		entries: [
			{ to: "/reports", name: words.reports, icon: BarChart3, go: "r" },
			{ to: "/activity", name: words.activity, icon: Activity },
		],
	},
	{
		name: words.setup,
		entries: [
			{ to: "/sending", name: words.sending, icon: Send },
			{ to: "/settings", name: words.settings, icon: Settings },
		],
	},
];
