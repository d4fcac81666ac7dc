import { useQuery } from "@tanstack/react-query";
import { Redirect, useParams } from "wouter";
import { NotFound } from "../../ui/NotFound";
import { catalogue } from "../../base/words/catalogue";
import { pageOf } from "./jobPage";
import { jobQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("jobs.job", { jobs: "Jobs" });

/** Job leads to the page that shows one job with its result. */
export default function Job() {
	const { id = "" } = useParams();
	const job = useQuery(jobQuery(id));
	return job.data ? (
		<Redirect to={pageOf(job.data)} replace />
	) : (
		<NotFound query={job} list={words.jobs} to={to.jobs()} />
	);
}
