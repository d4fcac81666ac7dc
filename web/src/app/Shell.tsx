import { ChevronsLeft, ChevronsRight, ChevronsUpDown, CircleHelp, MoreHorizontal, Search } from "lucide-react";
import { type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { IconButton } from "../ui/Button";
import { Toasts } from "../ui/Toast";
import { catalogue } from "../base/words/catalogue";
import { AccountMenu } from "./AccountMenu";
import { OpenSearch } from "../base/openSearch";
import { useShell } from "../base/shell";
import { JobsChip } from "./JobsChip";
import { LiveIndicator } from "./LiveIndicator";
import { chooser } from "../base/lastWorkspace";
import { lazyComponent } from "../base/lazy";
import { navigation } from "./navigation";
import { prefetch } from "./routes";
import css from "./Shell.module.css";
import { Strip } from "./Strip";
import { useSession } from "../base/session";
import { useShortcuts } from "../base/shortcuts";
import { Switcher } from "./Switcher";
import { to } from "../base/paths";

const Palette = lazyComponent(() => import("./Palette"));
const Help = lazyComponent(() => import("./Help"));

const words = catalogue("shell.shell", {
	skip: "Skip to content",
	main: "Main",
	collapse: "Collapse the navigation",
	expand: "Expand the navigation",
	search: "Search or go to",
	help: "Keyboard shortcuts and help",
	more: "More",
	all: "All pages",
	workspaces: "Switch workspace",
});

const railKey = "packetboat-rail";

function storedRail(): boolean {
	try {
		return localStorage.getItem(railKey) === "collapsed";
	} catch {
		return false;
	}
}

/** Shell is what stands around every page of a workspace. */
export function Shell({ children }: { children: ReactNode }) {
	const [collapsed, setCollapsed] = useState(storedRail);
	const [palette, setPalette] = useState(false);
	const [help, setHelp] = useState(false);
	const main = useRef<HTMLElement>(null);
	const openSearch = useCallback(() => setPalette(true), []);
	const toggle = () => {
		setCollapsed(!collapsed);
		try {
			localStorage.setItem(railKey, collapsed ? "open" : "collapsed");
		} catch {
			// Storage is off: it lasts until the page is closed.
		}
	};
	// A strip would move the page, so the page is shown when it is known whether there is one.
	const { isLoading, failureCount } = useShell();
	const isLoadingRecord = isLoading && failureCount === 0;
	useShortcuts({
		"/": openSearch,
		"mod+k": openSearch,
		"[": toggle,
		"?": () => setHelp(true),
	});
	return (
		<div className={css.shell} data-collapsed={collapsed || undefined}>
			{/* biome-ignore lint/a11y/useValidAnchor: it leads to the content, which takes the focus */}
			<a
				className={css.skip}
				href="#main"
				onClick={(event) => {
					event.preventDefault();
					main.current?.focus();
				}}
			>
				{words.skip}
			</a>
			<Rail collapsed={collapsed} onToggle={toggle} />
			<div className={css.column}>
				<header className={css.top}>
					<button type="button" className={css.search} onClick={openSearch}>
						<Search aria-hidden size={16} />
						<span>{words.search}</span>
						<kbd aria-hidden>/</kbd>
					</button>
					<div className={css.topEnd}>
						<JobsChip />
						<LiveIndicator />
						<IconButton label={words.help} icon={<CircleHelp aria-hidden />} onClick={() => setHelp(true)} />
						<AccountMenu />
					</div>
				</header>
				<Strip />
				<main id="main" ref={main} tabIndex={-1} className={css.main} aria-busy={isLoadingRecord || undefined}>
					<OpenSearch value={openSearch}>{children}</OpenSearch>
				</main>
			</div>
			<BottomBar />
			<Toasts />
			{palette && (
				<Suspense>
					<Palette
						onClose={() => setPalette(false)}
						onHelp={() => {
							setPalette(false);
							setHelp(true);
						}}
					/>
				</Suspense>
			)}
			{help && (
				<Suspense>
					<Help onClose={() => setHelp(false)} />
				</Suspense>
			)}
		</div>
	);
}

function isCurrent(path: string, to: string) {
	return to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
}

function Rail({ collapsed, onToggle }: { collapsed: boolean; onToggle: () => void }) {
	const [path] = useLocation();
	return (
		<nav className={css.rail} aria-label={words.main}>
			<div className={css.switcher}>
				<Switcher collapsed={collapsed} />
			</div>
			<div className={css.groups}>
				{navigation().map((group, i) => (
					<div key={group.name ?? i} className={css.group}>
						{group.name && !collapsed && <h2>{group.name}</h2>}
						<ul>
							{group.entries.map((entry) => (
								<li key={entry.to}>
									<RailLink
										to={entry.to}
										current={isCurrent(path, entry.to)}
										label={collapsed ? entry.name : undefined}
									>
										<entry.icon aria-hidden size={18} strokeWidth={1.75} />
										{!collapsed && <span>{entry.name}</span>}
									</RailLink>
								</li>
							))}
						</ul>
					</div>
				))}
			</div>
			<IconButton
				label={collapsed ? words.expand : words.collapse}
				icon={collapsed ? <ChevronsRight aria-hidden /> : <ChevronsLeft aria-hidden />}
				onClick={onToggle}
			/>
		</nav>
	);
}

/** RailLink loads the code of its page when it is hovered or focused for a moment. */
function RailLink({
	to,
	current,
	label,
	children,
}: {
	to: string;
	current: boolean;
	label?: string;
	children: ReactNode;
}) {
	const timer = useRef(0);
	const startSearch = () => {
		timer.current = window.setTimeout(() => prefetch(to), 60);
	};
	const end = () => clearTimeout(timer.current);
	useEffect(() => () => clearTimeout(timer.current), []);
	return (
		<Link
			href={to}
			aria-label={label}
			title={label}
			aria-current={current ? "page" : undefined}
			onPointerEnter={startSearch}
			onPointerLeave={end}
			onFocus={startSearch}
			onBlur={end}
		>
			{children}
		</Link>
	);
}

const bottom = [to.home(), to.contacts(), to.broadcasts(), to.templates()];

/** BottomBar is the navigation of phones: four pages, and a list of all. */
function BottomBar() {
	const [path] = useLocation();
	const [open, setOpen] = useState(false);
	const dialog = useRef<HTMLDialogElement>(null);
	const entries = navigation().flatMap((group) => group.entries);
	const { memberships } = useSession();
	useEffect(() => {
		if (open) dialog.current?.showModal();
		else dialog.current?.close();
	}, [open]);
	return (
		<>
			<nav className={css.bottom} aria-label={words.main}>
				{bottom.map((to) => {
					const entry = entries.find((entry) => entry.to === to);
					return (
						entry && (
							<Link key={to} href={to} aria-current={isCurrent(path, to) ? "page" : undefined}>
								<entry.icon aria-hidden size={20} strokeWidth={1.75} />
								<span>{entry.name}</span>
							</Link>
						)
					);
				})}
				<button type="button" aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(true)}>
					<MoreHorizontal aria-hidden size={20} />
					<span>{words.more}</span>
				</button>
			</nav>
			<dialog ref={dialog} className={css.sheet} aria-label={words.all} onClose={() => setOpen(false)}>
				<ul>
					{entries.map((entry) => (
						<li key={entry.to}>
							<Link
								href={entry.to}
								aria-current={isCurrent(path, entry.to) ? "page" : undefined}
								onClick={() => setOpen(false)}
							>
								<entry.icon aria-hidden size={20} strokeWidth={1.75} />
								{entry.name}
							</Link>
						</li>
					))}
					{memberships.length > 1 && (
						<li>
							<a href={chooser}>
								<ChevronsUpDown aria-hidden size={20} strokeWidth={1.75} />
								{words.workspaces}
							</a>
						</li>
					)}
				</ul>
			</dialog>
		</>
	);
}
