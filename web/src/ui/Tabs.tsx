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
		<nav
			aria-label={label}
			className={css.tabs}
			data-whole
			aria-busy={tabs.some((tab) => tab.count === null) || undefined}
		>
			<ul>
				{tabs.map((tab) => (
					<li key={tab.id}>
						<Link href={to(tab.id)} aria-current={tab.id === current ? "page" : undefined}>
							{tab.name}
							{typeof tab.count === "number" && <span className={css.count}>{tab.count}</span>}
						</Link>
					</li>
				))}
			</ul>
		</nav>
	);
}
