import { Link, useLocation, useSearch } from "wouter";
import css from "./Tabs.module.css";

/** Tabs are links between the views of a page; the view is the parameter "tab" of the address. A count of null is not known yet. */
export function Tabs({
	label,
	tabs,
	current,
}: {
	label: string;
	tabs: { id: string; name: string; count?: number | null }[];
	current: string;
}) {
	const [path] = useLocation();
	const search = useSearch();
	const to = (id: string) => {
		const params = new URLSearchParams(search);
		if (id === tabs[0]?.id) params.delete("tab");
		else params.set("tab", id);
		const text = params.toString();
		return path + (text ? `?${text}` : "");
	};
	if (tabs.length < 2) return null;
	return (
		<nav aria-label={label} className={css.tabs} data-whole aria-busy={tabs.some((t) => t.count === null) || undefined}>
			<ul>
				{tabs.map((t) => (
					<li key={t.id}>
						<Link href={to(t.id)} aria-current={t.id === current ? "page" : undefined}>
							{t.name}
							{typeof t.count === "number" && <span className={css.count}>{t.count}</span>}
						</Link>
					</li>
				))}
			</ul>
		</nav>
	);
}
