import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { to } from "../../base/paths";
import { catalogue } from "../../base/words/catalogue";
import { brandQuery, isUnset } from "../settings/brandCode";
import css from "./Starters.module.css";

const words = catalogue("templates.brandHint", {
	none: "These emails get your colours, fonts and logo once your brand is set.",
	set: "Set your brand",
});

/** BrandHint leads to the brand while the account has not set one. */
export function BrandHint() {
	const brand = useQuery(brandQuery());
	if (!brand.data || !isUnset(brand.data)) return null;
	return (
		<p className={css.hint}>
			{words.none} <Link href={to.brand()}>{words.set}</Link>
		</p>
	);
}
