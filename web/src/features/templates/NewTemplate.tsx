import { Redirect } from "wouter";

/** NewTemplate leads to the choice of what a new template begins with. */
export default function NewTemplate() {
	return <Redirect to="/templates?new=1" replace />;
}
