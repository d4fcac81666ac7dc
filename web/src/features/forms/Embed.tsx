import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { FormRow } from "../../api/schema";
import { Copy } from "../../ui/Copy";
import { Card, Callout } from "../../ui/Page";
import { Source } from "../../ui/Source";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import css from "./Form.module.css";
import { embedQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("forms.embed", {
	draft: "This form is a draft. Pages that contain it cannot submit it until it is published.",
	archived: "This form is archived. Pages that contain it cannot submit it.",
	noHost: "The form cannot be reached from other websites yet",
	noHostText:
		"The code below uses relative addresses and does not work on another website. Get the tracking host of a sending domain live, then come back for the code.",
	domains: "Sending domains",
	snippet: "With the script",
	snippetAbout:
		"The form is validated and submitted without leaving the page. Put this code where the form should appear.",
	again:
		"This code contains the fields, their texts and the button. After you change them, put the new code on your pages. Changes to what happens after submitting need no new code.",
	plain: "Plain HTML",
	plainAbout:
		"Works without JavaScript. After submitting, the browser shows a built-in page or goes to the page you chose.",
	copy: "Copy",
	where: "Allowed websites",
	anywhere: "Every website. To restrict it, enter websites under Build.",
	only: "Only {origins}. Other websites are refused.",
	host: "Served by {host}.",
	policy: "If your page has a Content Security Policy, allow this host in script-src, connect-src and form-action.",
	policyCaptcha: "The captcha also needs its provider's hosts there.",
	states:
		"Style it with your page's CSS: .packetboat-form, .packetboat-field, .packetboat-error, .packetboat-status. The form's data-packetboat-state attribute is sending, error, accepted or confirmation_sent.",
	event: "After submitting, the form fires the packetboat:submitted event.",
});

/** Embed gives the code that puts a form into a page. */
export function Embed({ form }: { form: FormRow }) {
	const embed = useQuery(embedQuery(form.id));
	if (embed.isPending) return <Skeleton rows={10} />;
	if (embed.isError) return <Failure error={embed.error} retry={() => void embed.refetch()} />;
	const code = embed.data;
	return (
		<>
			{form.status !== "published" && (
				<Callout tone="warning">{form.status === "draft" ? words.draft : words.archived}</Callout>
			)}
			{code.tracking_domain === null && (
				<Callout tone="warning" title={words.noHost}>
					<p>{words.noHostText}</p>
					<Link href={to.sending()}>{words.domains}</Link>
				</Callout>
			)}
			<Card
				title={words.snippet}
				actions={
					<Copy text={code.snippet} subject={words.snippet}>
						{words.copy}
					</Copy>
				}
			>
				<p>{words.snippetAbout}</p>
				<p>{words.again}</p>
				<Source text={code.snippet} label={words.snippet} />
			</Card>
			<Card
				title={words.plain}
				actions={
					<Copy text={code.html} subject={words.plain}>
						{words.copy}
					</Copy>
				}
			>
				<p>{words.plainAbout}</p>
				<Source text={code.html} label={words.plain} />
			</Card>
			<Card title={words.where}>
				<ul className={css.facts}>
					<li>
						{form.allowed_origins.length > 0 ? words.only({ origins: and(form.allowed_origins) }) : words.anywhere}
					</li>
					{code.tracking_domain && <li>{words.host({ host: code.tracking_domain })}</li>}
					<li>
						{words.policy} {form.captcha.provider !== "none" && words.policyCaptcha}
					</li>
					<li>{words.states}</li>
					<li>{words.event}</li>
				</ul>
			</Card>
		</>
	);
}
