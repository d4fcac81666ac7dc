import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { StateBadge } from "../../ui/Badge";
import { isGone, NotFound } from "../../ui/NotFound";
import { Page } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { Editor } from "./MtaEditor";
import { Health } from "./MtaHealth";
import { MtaLimits } from "./MtaLimits";
import { Warmup } from "./Warmup";
import { mtaQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.mta", {
	sending: "Sending setup",
	add: "Add sending server",
});

/** MtaPage shows or creates an MTA config. */
export default function MtaPage() {
	const { id = "new" } = useParams<{ id: string }>();
	const query = useQuery({ ...mtaQuery(id), enabled: id !== "new" });
	const breadcrumbs = [{ name: words.sending, to: to.sending() }];
	if ((id !== "new" && !query.data) || isGone(query.error))
		return (
			<NotFound
				query={query}
				list={words.sending}
				to={to.sending()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["mta_config"], id }}
			/>
		);
	return (
		<Page
			title={query.data?.name ?? words.add}
			breadcrumbs={breadcrumbs}
			status={query.data && <StateBadge kind="mta" state={query.data.active ? query.data.health.state : "off"} />}
		>
			{query.data && (
				<>
					<Health lane={query.data} />
					<Warmup warmup={query.data.warmup} />
					<MtaLimits lane={query.data} />
				</>
			)}
			<Editor key={query.data?.id ?? "new"} lane={query.data} />
		</Page>
	);
}
