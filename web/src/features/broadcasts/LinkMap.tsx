import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { BroadcastSessionView, LinkRow } from "../../api/schema";
import { Select } from "../../ui/Field";
import { SandboxedFrame, type Link as Place } from "../../ui/SandboxedFrame";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import css from "./Report.module.css";
import { asSentQuery } from "./queries";

const words = catalogue("broadcasts.linkMap", {
	title: "On the email",
	about:
		"Each mark shows the people who clicked that link, as a share of recipients. The email is shown with sample values.",
	several:
		"{count, plural, one {# address stands at several places, which share one figure: ×2 and so on tells at how many.} other {# addresses stand at several places, which share one figure: ×2 and so on tells at how many.}}",
	mail: "The email with the clicks on its links",
	width: "Width",
	phone: "Phone",
	desktop: "Desktop",
	variant: "Version",
	mark: "{shown}, {label}: {count, plural, one {# person} other {# people}}{places, plural, =0 {} =1 {} other {, at {places, number} places}}",
	gone: "This email has no HTML.",
});

/** addressOf returns an address without the parameters that tracking adds to it. */
function addressOf(url: string): string {
	try {
		const u = new URL(url);
		for (const name of [...u.searchParams.keys()]) if (name.startsWith("utm_")) u.searchParams.delete(name);
		return u.href;
	} catch {
		return url;
	}
}

/** The room that a mark takes at the edge of a mail, in pixels. */
const markWidth = 76;

const mailWidths = { "600": 600, "375": 375 } as const;

/** LinkMap shows the mail with the clicks of each link at its place. The table of links says the same in words. */
export function LinkMap({
	broadcast,
	links,
	people,
}: {
	broadcast: BroadcastSessionView;
	links: LinkRow[];
	people: (url: string) => string;
}) {
	const variants = broadcast.variants ?? [];
	const [variant, setVariant] = useState(variants[0]?.id ?? "");
	const [width, setWidth] = useState<keyof typeof mailWidths>("600");
	const [linkRects, setLinkRects] = useState<Place[]>([]);
	const mail = useQuery(asSentQuery(broadcast.id, variant));
	const linkByAddress = new Map(links.map((link) => [addressOf(link.url), link]));
	const markers = linkRects.flatMap((place) => {
		const link = linkByAddress.get(addressOf(place.address));
		return link && place.width > 0 && place.height > 0 ? [{ ...place, link }] : [];
	});
	const count = (id: number) => markers.filter((marker) => marker.link.link_id === id).length;
	const shared = new Set(
		markers.filter((marker) => count(marker.link.link_id) > 1).map((marker) => marker.link.link_id),
	).size;
	return (
		<Card
			title={words.title}
			actions={
				<div className={css.mapTools}>
					{variants.length > 0 && (
						<Select
							label={words.variant}
							hideLabel
							value={variant}
							onChange={setVariant}
							choices={variants.map((variant) => ({ value: variant.id, label: variant.name }))}
						/>
					)}
					<Select
						label={words.width}
						hideLabel
						value={width}
						onChange={(value) => setWidth(value === "375" ? "375" : "600")}
						choices={[
							{ value: "600", label: words.desktop },
							{ value: "375", label: words.phone },
						]}
					/>
				</div>
			}
		>
			<p className={css.muted}>
				{words.about} {shared > 0 && words.several({ count: shared })}
			</p>
			{mail.isPending ? (
				<Skeleton rows={8} />
			) : mail.isError ? (
				<Failure error={mail.error} retry={() => void mail.refetch()} />
			) : !mail.data.html ? (
				<p>{words.gone}</p>
			) : (
				<div className={css.stage}>
					<div className={css.map} style={{ inlineSize: mailWidths[width] }}>
						<SandboxedFrame title={words.mail} html={mail.data.html} dark={false} onLinks={setLinkRects} />
						{markers.map((marker, i) => {
							const n = marker.link.unique_clicks;
							const placeCount = count(marker.link.link_id);
							const shown = `${exactNumber(n)}${n > 0 ? ` · ${percent(marker.link.click_rate)}` : ""}${placeCount > 1 ? ` ×${exactNumber(placeCount)}` : ""}`;
							return (
								<Link
									key={`${marker.link.link_id} ${i}`}
									href={people(marker.link.url)}
									className={css.mark}
									data-none={n === 0 || undefined}
									style={{
										insetInlineStart: `min(${marker.x + marker.width + 4}px, 100% - ${markWidth}px)`,
										insetBlockStart: marker.y + marker.height / 2,
									}}
									aria-label={words.mark({
										shown,
										label: marker.link.label || marker.link.url,
										count: n,
										places: placeCount,
									})}
								>
									{shown}
								</Link>
							);
						})}
					</div>
				</div>
			)}
		</Card>
	);
}
