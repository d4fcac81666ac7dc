import { useQuery } from "@tanstack/react-query";
import { AtSign, BookOpen, ChevronRight, Globe, History, type LucideIcon, Settings } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { api, workspaceSlug } from "../api/client";
import { undoLast, undoText } from "../ui/Toast";
import { useDebounced } from "../ui/useDebounced";
import { catalogue } from "../base/words/catalogue";
import { bestFirst, grouped } from "./matches";
import { type ListPage, navigation } from "./navigation";
import css from "./Palette.module.css";
import { pageActions } from "../base/pageActions";
import { recent } from "../base/recentRecords";
import { useDisabledReason } from "../base/session";
import { useSignOut } from "../sync/session";
import { density, setDensity } from "../base/density";
import { applyTheme } from "../base/theme";
import { answer } from "../base/queries";
import { outside, to } from "../base/paths";

const words = catalogue("shell.palette", {
	title: "Search, go to or run",
	placeholder: "Search or go to",
	hint: "@ contacts, # segments, > actions, ? help",
	here: "On this page",
	recent: "Recent",
	help: "Help",
	address: {
		mailed: "Can {email} be mailed?",
		suppress: "Add {email} to the suppression list",
	},
	helps: { keys: "Keyboard shortcuts", reference: "API reference" },
	results: "{count, plural, one {# result} other {# results}}",
	nothing: "Nothing found.",
	pages: "Pages",
	action: "Actions",
	create: "Create",
	actions: {
		contact: "Add contact",
		broadcast: "New broadcast",
		template: "New template",
		segment: "New segment",
		undo: "Undo: {what}",
		light: "Light theme",
		dark: "Dark theme",
		system: "System theme",
		comfortable: "Comfortable table rows",
		compact: "Compact table rows",
		out: "Sign out",
	},
	more: {
		importing: "Import contacts",
		senders: "Senders",
		types: "Email types and categories",
		seeds: "Seed lists",
		mailbox: "Mailbox",
		jobs: "Jobs",
		account: "Workspace settings",
		brand: "Brand",
		members: "Members",
		keys: "API keys",
		webhooks: "Webhooks",
		website: "Website",
		fields: "Custom fields",
		stages: "Stages",
		scoring: "Scoring",
		audit: "Audit log",
		me: "Your account",
	},
	types: {
		contact: "Contact",
		segment: "Segment",
		broadcast: "Broadcast",
		template: "Template",
		block: "Block",
		message: "Library",
		sequence: "Sequence",
		automation: "Automation",
		form: "Form",
		domain: "Domain",
		identity: "Sender",
	},
});

/** Other words by which pages are found. */
const keywords = catalogue("shell.palette.also", {
	home: "dashboard overview start checklist setup",
	contacts: "people subscribers customers users audience list export download csv",
	contactImport: "upload csv excel subscribers people",
	segments: "lists groups audience filters conditions",
	forms: "subscribe signup sign-up double opt-in embed captcha",
	suppressions: "blocklist blacklist bounces complaints spam unsubscribed do not mail",
	templates: "mjml html designs layouts",
	blocks: "snippets modules partials",
	library: "messages mails content",
	broadcasts: "campaigns newsletters mailings schedule scheduled calendar a/b test",
	sequences: "drip flows journeys workflows series",
	automations: "rules triggers workflows",
	reports: "statistics analytics metrics opens clicks bounces rates export csv",
	activity: "events feed history log",
	sending:
		"smtp relay ses mta configs servers domains dns dkim spf dmarc deliverability reputation throttle limits warm-up warmup",
	settings: "preferences configuration options",
	senders: "from address identities reply-to",
	emailTypes: "unsubscribe preferences page subscriptions topics",
	seedLists: "inbox placement test addresses",
	mailbox: "built-in inbox test mails sink trial",
	jobs: "exports imports downloads progress csv background",
	account: "timezone time zone postal address company workspace language defaults window",
	brand: "colours colors fonts logo design style",
	members: "users team people invite roles permissions colleagues",
	apiKeys: "tokens developer integration scopes secret",
	webhooks: "callbacks integration developer http",
	website: "tracking script snippet visitors identify",
	fields: "properties attributes columns",
	stages: "lifecycle funnel",
	scoring: "points lead score engagement",
	audit: "history changes security who",
	me: "profile password theme sessions shortcuts",
});

/** Other words by which actions are found. */
const actionKeywords = catalogue("shell.palette.alsoActions", {
	contact: "create new person subscriber customer",
	broadcast: "create campaign newsletter mailing write send",
	template: "create design layout html mjml",
	segment: "create list audience group filter",
	undo: "revert back",
	light: "theme appearance bright day mode colours colors",
	dark: "theme appearance night mode colours colors",
	system: "theme appearance automatic mode colours colors",
	density: "spacing height tight dense comfortable compact",
	out: "log out logout sign off exit quit",
});

type Result = {
	id: string;
	title: string;
	/** The heading that it stands under. */
	kind: string;
	icon: LucideIcon;
	/** Other words by which it is found. */
	keywords?: string;
	detail?: ReactNode;
	off?: boolean;
	run: () => void;
};

/** Pages that the navigation leads to by way of another. They are listed once something is typed. */
const more = {
	importing: "contactImport",
	senders: "senders",
	types: "emailTypes",
	seeds: "seedLists",
	mailbox: "mailbox",
	jobs: "jobs",
	account: "account",
	brand: "brand",
	members: "members",
	keys: "apiKeys",
	webhooks: "webhooks",
	website: "website",
	fields: "fields",
	stages: "stages",
	scoring: "scoring",
	audit: "audit",
} as const satisfies { [word: string]: ListPage };

const keywordsOf = (page: ListPage | "me") => (keywords as { [page: string]: string })[page];

const emailPattern = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

const paths: { [type: string]: (id: string) => string } = {
	contact: (id) => to.contact(id),
	segment: (id) => to.segment(id),
	broadcast: (id) => to.broadcast(id),
	template: to.template,
	block: to.block,
	message: (id) => to.entry(id),
	sequence: (id) => to.sequence(id),
	automation: (id) => to.automation(id),
	form: (id) => to.form(id),
	domain: to.domain,
	identity: to.sender,
};

/** recordIcons are the icons of the pages that records are on. */
function recordIcons(): { [type: string]: LucideIcon } {
	const byPage = Object.fromEntries(
		navigation().flatMap((group) => group.entries.map((entry) => [entry.page, entry.icon])),
	);
	return {
		contact: byPage.contacts ?? AtSign,
		segment: byPage.segments ?? ChevronRight,
		broadcast: byPage.broadcasts ?? ChevronRight,
		template: byPage.templates ?? ChevronRight,
		block: byPage.blocks ?? ChevronRight,
		message: byPage.library ?? ChevronRight,
		sequence: byPage.sequences ?? ChevronRight,
		automation: byPage.automations ?? ChevronRight,
		form: byPage.forms ?? ChevronRight,
		domain: Globe,
		identity: AtSign,
	};
}

/** Palette is a box that reaches every page, record and action. */
export default function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
	const [search, setSearch] = useState("");
	const [activeIndex, setActiveIndex] = useState(0);
	const [, navigate] = useLocation();
	const signOut = useSignOut();
	const disabledReasons = {
		contact: useDisabledReason("POST /contacts"),
		broadcast: useDisabledReason("POST /broadcasts"),
		template: useDisabledReason("POST /templates"),
		segment: useDisabledReason("POST /segments"),
		suppression: useDisabledReason("POST /suppressions"),
	};
	const list = useId();
	const dialog = useRef<HTMLDialogElement>(null);
	const prefix = /^[@#>?]/.exec(search)?.[0] ?? "";
	const text = search.slice(prefix.length).trim().toLowerCase();
	const debounced = useDebounced(text, 120);

	useEffect(() => {
		dialog.current?.showModal();
	}, []);

	const types = prefix === "@" ? "contact" : prefix === "#" ? "segment" : undefined;
	const query = useQuery({
		...answer("search", debounced, types),
		enabled: debounced !== "" && prefix !== ">",
		queryFn: ({ signal }) => api("GET /search", { query: { q: debounced, types, limit: 8 }, signal }),
	});

	const open = (path: string) => () => {
		onClose();
		navigate(path);
	};
	const local: Result[] = [];
	const [pageActionList] = useState(pageActions);
	if (prefix === "" || prefix === ">") {
		for (const [i, action] of pageActionList.entries()) {
			local.push({
				id: `offer ${i}`,
				title: action.title,
				kind: words.here,
				icon: ChevronRight,
				detail: action.disabledReason,
				off: Boolean(action.disabledReason),
				run: () => {
					if (action.disabledReason) return;
					onClose();
					action.run();
				},
			});
		}
	}
	if (prefix === "") {
		for (const r of recent(workspaceSlug()))
			local.push({ id: `recent ${r.to}`, title: r.title, kind: words.recent, icon: History, run: open(r.to) });
		for (const entry of navigation().flatMap((group) => group.entries))
			local.push({
				id: `page ${entry.to}`,
				title: entry.name,
				kind: words.pages,
				icon: entry.icon,
				keywords: keywordsOf(entry.page),
				run: open(entry.to),
			});
		if (text !== "") {
			for (const [word, page] of Object.entries(more))
				local.push({
					id: `page ${to[page]()}`,
					title: words.more[word as keyof typeof more],
					kind: words.pages,
					icon: Settings,
					keywords: keywordsOf(page),
					run: open(to[page]()),
				});
			local.push({
				id: "page me",
				title: words.more.me,
				kind: words.pages,
				icon: Settings,
				keywords: keywordsOf("me"),
				run: open(`~${outside.me}`),
			});
		}
	}
	if (prefix === "" || prefix === ">") {
		const catalogue = words.actions;
		const add = (id: string, title: string, run: () => void, disabledReason?: string) => {
			if (!pageActionList.some((action) => action.title === title))
				local.push({
					id,
					title,
					kind: words.action,
					icon: ChevronRight,
					keywords: (actionKeywords as { [id: string]: string })[id],
					detail: disabledReason,
					off: Boolean(disabledReason),
					run: () => (disabledReason ? undefined : run()),
				});
		};
		add("contact", catalogue.contact, open(to.contacts({ new: "1" })), disabledReasons.contact);
		add("broadcast", catalogue.broadcast, open(to.newBroadcast()), disabledReasons.broadcast);
		add("template", catalogue.template, open(to.templates({ new: "1" })), disabledReasons.template);
		add("segment", catalogue.segment, open(to.newSegment()), disabledReasons.segment);
		const undo = undoText();
		if (undo) {
			add("undo", catalogue.undo({ what: undo }), () => {
				onClose();
				undoLast();
			});
		}
		for (const theme of ["light", "dark", "system"] as const) {
			add(theme, catalogue[theme], () => {
				onClose();
				applyTheme(theme);
			});
		}
		const other = density() === "compact" ? "comfortable" : "compact";
		add("density", catalogue[other], () => {
			onClose();
			setDensity(other);
		});
		add("out", catalogue.out, () => void signOut());
	}
	if (prefix === "?") {
		local.push({ id: "keys", title: words.helps.keys, kind: words.help, icon: BookOpen, run: onHelp });
		local.push({
			id: "reference",
			title: words.helps.reference,
			kind: words.help,
			icon: BookOpen,
			run: () => void window.open(outside.reference, "_blank", "noopener"),
		});
	}
	const email = search.trim();
	// The answer is the first card of the contact's page. An address of nobody leads to the empty table, which says so.
	const openContactByEmail = async () => {
		const people = await api("GET /search", { query: { q: email, types: "contact", limit: 8 } }).catch(() => null);
		const person = people?.data.find((result) =>
			[result.title, result.subtitle].some((t) => t?.toLowerCase() === email.toLowerCase()),
		);
		open(person ? to.contact(person.id) : to.contacts({ q: email }))();
	};
	const emailResults: Result[] = emailPattern.test(email)
		? [
				{
					id: "mailed",
					title: words.address.mailed({ email }),
					kind: words.action,
					icon: ChevronRight,
					run: () => void openContactByEmail(),
				},
				{
					id: "suppress",
					title: words.address.suppress({ email }),
					kind: words.action,
					icon: ChevronRight,
					detail: disabledReasons.suppression,
					off: Boolean(disabledReasons.suppression),
					run: disabledReasons.suppression ? () => undefined : open(to.suppressions({ add: email })),
				},
			]
		: [];
	const icons = recordIcons();
	const groups = grouped<Result>([
		...emailResults,
		...bestFirst(text, local),
		...(debounced === text && text !== "" ? (query.data?.data ?? []) : []).map((result) => ({
			id: `${result.type} ${result.id}`,
			title: result.title,
			kind: (words.types as { [type: string]: string })[result.type] ?? result.type,
			icon: icons[result.type] ?? ChevronRight,
			detail: result.subtitle,
			run: open(paths[result.type]?.(result.id) ?? to.home()),
		})),
	]);
	const results = groups.flatMap((group) => group.results);
	const current = Math.min(activeIndex, results.length - 1);
	const option = (result: Result) => {
		const i = results.indexOf(result);
		return (
			// biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the combo box
			<div
				key={result.id}
				id={`${list}-${i}`}
				role="option"
				tabIndex={-1}
				aria-selected={i === current}
				aria-disabled={result.off}
				className={css.option}
				ref={(el) => {
					if (i === current) el?.scrollIntoView({ block: "nearest" });
				}}
				onClick={result.run}
				onPointerMove={() => i !== current && setActiveIndex(i)}
			>
				<result.icon aria-hidden size={16} className={css.icon} />
				<span className={css.title}>{result.title}</span>
				{result.detail && <span className={css.detail}>{result.detail}</span>}
			</div>
		);
	};
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog
		<dialog
			ref={dialog}
			className={css.palette}
			aria-label={words.title}
			onClose={onClose}
			onClick={(e) => e.target === dialog.current && onClose()}
		>
			<input
				autoFocus
				role="combobox"
				aria-expanded
				aria-controls={list}
				aria-activedescendant={results[current] ? `${list}-${current}` : undefined}
				aria-autocomplete="list"
				aria-label={words.title}
				placeholder={words.placeholder}
				className={css.input}
				value={search}
				spellCheck={false}
				onChange={(event) => {
					setSearch(event.target.value);
					setActiveIndex(0);
				}}
				onKeyDown={(event) => {
					if (event.key === "ArrowDown" || event.key === "ArrowUp") {
						event.preventDefault();
						const step = event.key === "ArrowDown" ? 1 : -1;
						setActiveIndex((current + step + results.length) % Math.max(results.length, 1));
					} else if (event.key === "Enter") {
						event.preventDefault();
						results[current]?.run();
					}
				}}
			/>
			<p className="visually-hidden" role="status">
				{text && words.results({ count: results.length })}
			</p>
			<div id={list} role="listbox" aria-label={words.title} className={css.list}>
				{groups.map((group) => (
					<div key={group.kind} role="group" aria-label={group.kind}>
						<div className={css.heading} aria-hidden>
							{group.kind}
						</div>
						{group.results.map((result) => option(result))}
					</div>
				))}
			</div>
			{results.length === 0 && <p className={css.nothing}>{words.nothing}</p>}
			<p className={css.hint}>{words.hint}</p>
		</dialog>
	);
}
