import { useParam } from "../../base/params";
import { Page } from "../../ui/Page";
import { Tabs } from "../../ui/Tabs";
import { catalogue } from "../../base/words/catalogue";
import { Feed } from "./Feed";
import { Seen } from "./Seen";

const words = catalogue("activity.activity", {
	title: "Activity",
	about:
		"What contacts do, latest first: opens and clicks, events, page views, forms, sequences and changes to their records.",
	views: "Views of the activity",
	feed: "Feed",
	seen: "Events seen",
});

/** Activity shows what all contacts do, and which events programs have sent. */
export default function Activity() {
	const [tab] = useParam("tab", "feed");
	return (
		<Page title={words.title} description={words.about}>
			<Tabs
				label={words.views}
				current={tab}
				tabs={[
					{ id: "feed", name: words.feed },
					{ id: "seen", name: words.seen },
				]}
			/>
			{tab === "seen" ? <Seen /> : <Feed />}
		</Page>
	);
}
