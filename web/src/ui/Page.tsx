import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { PageActionsEnabled } from "../base/pageActions";
import { addRecent } from "../base/recentRecords";
import { useWorkspace } from "../base/session";
import { catalogue } from "../base/words/catalogue";
import css from "./Page.module.css";
import { to } from "../base/paths";

const words = catalogue("shell.page", { notSet: "not set", trail: "Breadcrumb" });

let navigations = 0;

/** countNavigation records that the address changed, so that the next heading takes the focus. */
export function countNavigation() {
	navigations++;
}

/** How long a part of a page may hold back what is below it, in milliseconds. */
const arrivalTimeout = 4000;

/**
 * useArrival marks a page until all its parts have loaded for the first time. Meanwhile what stands below a part that
 * loads keeps its place and is not shown, because it would move; nor are parts with data-whole whose own pieces would.
 */
function useArrival(page: RefObject<HTMLElement | null>) {
	useLayoutEffect(() => {
		const element = page.current;
		if (!element) return;
		const end = () => {
			observer.disconnect();
			clearTimeout(timer);
			delete element.dataset.coming;
		};
		const check = () => element.querySelector("[aria-busy=true]") || end();
		const observer = new MutationObserver(check);
		const timer = setTimeout(end, arrivalTimeout);
		element.dataset.coming = "";
		observer.observe(element, { childList: true, subtree: true, attributeFilter: ["aria-busy"] });
		check();
		return end;
	}, [page]);
}

type Props = {
	title: string;
	/** Words before the title in the document's title, such as a record's name; the title if missing. */
	record?: string;
	/** Where the page belongs: names and addresses from the top. */
	breadcrumbs?: { name: string; to: string }[];
	status?: ReactNode;
	description?: ReactNode;
	actions?: ReactNode;
	wide?: boolean;
	/** There is no record at this address. */
	notFound?: boolean;
	children: ReactNode;
};

/** Page is the frame of every page: its heading, which takes the focus after navigation, and its actions. */
export function Page({ title, record, breadcrumbs, status, description, actions, wide, notFound, children }: Props) {
	const heading = useRef<HTMLHeadingElement>(null);
	const page = useRef<HTMLDivElement>(null);
	useArrival(page);
	const workspace = useWorkspace();
	const name = workspace?.tenant_name;
	const [path] = useLocation();
	const slug = workspace?.tenant_slug;
	useEffect(() => {
		if (slug && breadcrumbs && breadcrumbs.length > 0 && !path.startsWith(`${to.settings()}/`))
			addRecent(slug, path, notFound ? null : (record ?? title));
	}, [slug, path, record, title, breadcrumbs, notFound]);
	useEffect(() => {
		document.title = [record ?? title, ...(breadcrumbs ?? []).map((link) => link.name).reverse(), name, "Packetboat"]
			.filter(Boolean)
			.join(" · ");
	}, [title, record, breadcrumbs, name]);
	useEffect(() => {
		if (navigations > 0) heading.current?.focus({ preventScroll: true });
	}, []);
	return (
		<div ref={page} className={wide ? css.wide : css.page}>
			<header className={css.header}>
				<div className={css.words}>
					{breadcrumbs && breadcrumbs.length > 0 && (
						<nav aria-label={words.trail} className={css.trail}>
							<ol>
								{breadcrumbs.map((link) => (
									<li key={link.to}>
										<Link href={link.to}>{link.name}</Link>
									</li>
								))}
							</ol>
						</nav>
					)}
					<div className={css.title}>
						<h1 ref={heading} tabIndex={-1}>
							{title}
						</h1>
						{status}
					</div>
					{description && <p className={css.description}>{description}</p>}
				</div>
				{actions && (
					<PageActionsEnabled value={true}>
						<div className={css.actions}>{actions}</div>
					</PageActionsEnabled>
				)}
			</header>
			{children}
		</div>
	);
}

/** Card is a titled part of a page. */
export function Card({
	title,
	id,
	actions,
	children,
	tone,
}: {
	title?: ReactNode;
	id?: string;
	actions?: ReactNode;
	children: ReactNode;
	tone?: "warning" | "danger";
}) {
	return (
		<section id={id} className={[css.card, tone && css[tone]].filter(Boolean).join(" ")}>
			{(title || actions) && (
				<header className={css.cardHeader}>
					{title && <h2>{title}</h2>}
					{actions && <div className={css.actions}>{actions}</div>}
				</header>
			)}
			{children}
		</section>
	);
}

/** Facts lists names with values. */
export function Facts({ rows }: { rows: [ReactNode, ReactNode][] }) {
	return (
		<dl className={css.facts}>
			{rows.map(([name, value], i) => (
				<div key={i}>
					<dt>{name}</dt>
					<dd>{value ?? <NotSet />}</dd>
				</div>
			))}
		</dl>
	);
}

/** NotSet is the dash of an empty value. */
export function NotSet() {
	return (
		<span className={css.notSet}>
			<span aria-hidden>–</span>
			<span className="visually-hidden">{words.notSet}</span>
		</span>
	);
}

/** Callout is a message that stays at its place. */
export function Callout({
	tone = "neutral",
	title,
	children,
}: {
	tone?: "neutral" | "progress" | "success" | "warning" | "danger";
	title?: ReactNode;
	children?: ReactNode;
}) {
	return (
		<div className={`${css.callout} ${css[`callout_${tone}`]}`} role={tone === "danger" ? "alert" : undefined}>
			{title && <p className={css.calloutTitle}>{title}</p>}
			{children && <div>{children}</div>}
		</div>
	);
}
