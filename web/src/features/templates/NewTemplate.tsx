import { Redirect } from "wouter";
import { to } from "../../base/paths";

/** NewTemplate leads to the choice of what a new template begins with. */
export default function NewTemplate() {
	return <Redirect to={to.templates({ new: "1" })} replace />;
}
