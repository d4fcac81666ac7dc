import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../../api/client";
import type { FormRow } from "../../api/schema";
import { useKey } from "../../base/session";
import { Copy } from "../../ui/Copy";
import { Card, Callout } from "../../ui/Page";
import { Source } from "../../ui/Source";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import css from "./Form.module.css";

const words = catalogue("forms.embed", {
	draft: "This form is a draft: pages that contain it cannot send it before it is published.",
	archived: "This form is archived: pages that contain it cannot send it.",
	noHost: "There is no address yet at which the form can be reached",
	noHostText:
		"The code below has relative addresses and does not work on another website. Make the tracking host of a sending domain live, then come back for the code.",
	domains: "Sending domains",
	snippet: "With the script",
	snippetAbout: "The form is checked, sent and answered without leaving the page. Put this where it should stand.",
	again:
		"The fields, their texts and the button are in this code. After you change them, put the new code into your pages; what happens after sending needs no new code.",
	plain: "Plain HTML",
	plainAbout:
		"Works without any script. The browser shows a page of ours after sending, or goes to the page that you chose.",
	copy: "Copy",
	where: "Where it may stand",
	anywhere: "On every website. Name the websites under Build to keep others from using it.",
	only: "On {origins} only. Elsewhere it is refused.",
	host: "It is served by {host}.",
	policy: "If your page has a content security policy, allow this host in script-src, connect-src and form-action.",
	policyCaptcha: "The captcha needs the hosts of its provider there, too.",
	states:
		"Style it with the CSS of your page: .packetboat-form, .packetboat-field, .packetboat-error, .packetboat-status. The attribute data-packetboat-state of the form says sending, error, accepted or confirmation_sent.",
	event: "After sending, the form fires the event packetboat:submitted.",
});

/** Embed gives the code that puts a form into a page. */
export function Embed({ form: f }: { form: FormRow }) {
	const key = useKey();
	const embed = useQuery({
		queryKey: key("form", f.id, "embed"),
		queryFn: ({ signal }) => api("GET /forms/{id}/embed", { path: { id: f.id }, signal }),
	});
	if (embed.isPending) return <Skeleton rows={10} />;
	if (embed.isError) return <Failure error={embed.error} retry={() => void embed.refetch()} />;
	const e = embed.data;
	return (
		<>
			{f.status !== "published" && (
				<Callout tone="warning">{f.status === "draft" ? words.draft : words.archived}</Callout>
			)}
			{e.tracking_domain === null && (
				<Callout tone="warning" title={words.noHost}>
					<p>{words.noHostText}</p>
					<Link href="/sending">{words.domains}</Link>
				</Callout>
			)}
			<Card
				title={words.snippet}
				actions={
					<Copy text={e.snippet} what={words.snippet}>
						{words.copy}
					</Copy>
				}
			>
				<p>{words.snippetAbout}</p>
				<p>{words.again}</p>
				<Source text={e.snippet} label={words.snippet} />
			</Card>
			<Card
				title={words.plain}
				actions={
					<Copy text={e.html} what={words.plain}>
						{words.copy}
					</Copy>
				}
			>
				<p>{words.plainAbout}</p>
				<Source text={e.html} label={words.plain} />
			</Card>
			<Card title={words.where}>
				<ul className={css.facts}>
					<li>{f.allowed_origins.length > 0 ? words.only({ origins: and(f.allowed_origins) }) : words.anywhere}</li>
					{e.tracking_domain && <li>{words.host({ host: e.tracking_domain })}</li>}
					<li>
						{words.policy} {f.captcha.provider !== "none" && words.policyCaptcha}
					</li>
					<li>{words.states}</li>
					<li>{words.event}</li>
				</ul>
			</Card>
		</>
	);
}
