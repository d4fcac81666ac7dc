import { Link } from "wouter";
import { Page } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import css from "./Settings.module.css";
import { to } from "../../base/paths";

const words = catalogue("settings.settings", {
	title: "Settings",
	account: { name: "Workspace", about: "Name, postal address, time zone, tracking" },
	brand: { name: "Brand", about: "Colours, fonts, logo and footer of your emails" },
	members: { name: "Members", about: "Who works here and what they can do" },
	keys: { name: "API keys", about: "For programs that use this workspace" },
	webhooks: { name: "Webhooks", about: "Notify your programs of what happens" },
	website: { name: "Website", about: "The script for your pages, tracked domains, signed identities" },
	fields: { name: "Custom fields", about: "What you know about contacts besides the standard fields" },
	stages: { name: "Stages", about: "Where a contact stands, from stranger to customer" },
	scoring: { name: "Scoring", about: "Points for what contacts do, with limits and decay" },
	jobs: { name: "Jobs", about: "Imports, exports and bulk actions" },
	audit: { name: "Audit log", about: "Who did what, and when" },
});

const pages = [
	[to.account(), words.account],
	[to.brand(), words.brand],
	[to.members(), words.members],
	[to.apiKeys(), words.keys],
	[to.webhooks(), words.webhooks],
	[to.website(), words.website],
	[to.fields(), words.fields],
	[to.stages(), words.stages],
	[to.scoring(), words.scoring],
	[to.jobs(), words.jobs],
	[to.audit(), words.audit],
] as const;

/** Settings lists the pages of settings. */
export default function Settings() {
	return (
		<Page title={words.title}>
			<ul className={css.cards}>
				{pages.map(([to, page]) => (
					<li key={to}>
						<Link href={to}>
							<b>{page.name}</b>
							<span>{page.about}</span>
						</Link>
					</li>
				))}
			</ul>
		</Page>
	);
}
